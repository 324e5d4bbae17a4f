import { useState } from "preact/hooks";
import { AccountPicker } from "../../parts/controls/account-picker.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Segments } from "../../parts/controls/segments.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Empty } from "../../parts/layout/states.tsx";
import { query, setQuery } from "../../state/location.ts";
import { isOperator, session } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { AccountKeys } from "./account-keys.tsx";
import { KeyForm } from "./key-form.tsx";
import { PlatformKeys } from "./platform-keys.tsx";

/** The keys with which providers are called: the platform's for the operator, and those of an account (BYOK). */
export default function ProviderKeys() {
  const [isAdding, setAdding] = useState(false);
  const [round, setRound] = useState(0);
  const own = session.value?.account?.id ?? null;
  const account = own ?? query.value["account"] ?? null;
  const isPlatform = own === null && query.value["of"] !== "account" && account === null;
  return (
    <Page
      title={text.providerKeys.title}
      actions={
        account === null ? null : (
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            {text.providerKeys.add}
          </Button>
        )
      }
    >
      <div class="stack">
        {isOperator.value ? <Scope isPlatform={isPlatform} account={account} /> : null}
        {isPlatform ? (
          <PlatformKeys />
        ) : account === null ? (
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

function Scope({ isPlatform, account }: { isPlatform: boolean; account: string | null }) {
  return (
    <div class="row wrap">
      <Segments
        label={text.providerKeys.scope}
        value={isPlatform ? "platform" : "account"}
        choices={[
          { value: "platform", label: text.providerKeys.platform },
          { value: "account", label: text.providerKeys.ofAccount },
        ]}
        onChange={(of) => setQuery({ of: of === "platform" ? null : of, account: null })}
      />
      {isPlatform ? null : (
        <AccountPicker
          label={text.providerKeys.account}
          value={account}
          onChange={(id) => setQuery({ of: "account", account: id })}
        />
      )}
    </div>
  );
}
