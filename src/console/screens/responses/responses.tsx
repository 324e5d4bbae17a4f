import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { setQuery } from "../../state/location.ts";
import { text } from "../../text/text.ts";
import { toResponseQuery } from "./response-filters.ts";
import { ResponseList } from "./response-list.tsx";

const words = text.responses;

/** Kept responses of the account that the session manages. Members see only their own. The operator chooses an account. */
export default function Responses() {
  const { account_id, key_id } = toResponseQuery(null);
  return (
    <Page title={words.title}>
      {account_id === undefined && key_id === undefined ? (
        <Empty title={words.chooseAccount}>
          <p>{words.chooseAccountAbout}</p>
          <AccountPicker
            label={words.account}
            value={null}
            onChange={(account) => setQuery({ account_id: account })}
          />
        </Empty>
      ) : (
        <section class="card">
          <ResponseList account={null} />
        </section>
      )}
    </Page>
  );
}
