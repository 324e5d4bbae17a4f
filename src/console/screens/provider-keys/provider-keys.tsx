import { useState } from "preact/hooks";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { query, setQuery } from "../../state/location.ts";
import { can, isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AccountKeys } from "./account-keys.tsx";
import { KeyForm } from "./key-form.tsx";

/** The keys of an account for providers (BYOK). Those of the platform are with the providers. */
export default function ProviderKeys() {
  const [isAdding, setAdding] = useState(false);
  const [round, setRound] = useState(0);
  const own = session.value?.account?.id ?? null;
  const account = own ?? query.value["account"] ?? null;
  return (
    <Page
      title={text.providerKeys.title}
      actions={
        account === null || !can("manage") ? null : (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {text.providerKeys.add}
          </Button>
        )
      }
    >
      <div class="stack">
        {isOperator.value ? <Scope account={account} /> : null}
        {account === null ? (
          <Empty title={text.providerKeys.chooseAccount}>
            <p>{text.providerKeys.chooseAccountAbout}</p>
          </Empty>
        ) : (
          <AccountKeys key={account} account={account} round={round} />
        )}
      </div>
      {isAdding && account !== null ? (
        <KeyForm
          account={account}
          changed={null}
          onClose={() => setAdding(false)}
          onDone={() => {
            setAdding(false);
            setRound((before) => before + 1);
          }}
        />
      ) : null}
    </Page>
  );
}

function Scope({ account }: { account: string | null }) {
  return (
    <div class="row wrap">
      <AccountPicker
        label={text.providerKeys.account}
        value={account}
        onChange={(id) => setQuery({ account: id })}
      />
      <span class="grow" />
      <a href="/console/providers">{text.providerKeys.platformKeys}</a>
    </div>
  );
}
