import { Button } from "./parts/controls/button.tsx";
import { Field } from "./parts/controls/field.tsx";
import { ErrorBox } from "./parts/layout/states.tsx";
import { Mark } from "./parts/values/icon.tsx";
import {
  hasEnded,
  oidcStart,
  sessionError,
  signInError,
  signInOptions,
  startSession,
} from "./state/session.ts";
import { useKeySignIn } from "./state/use-key-sign-in.ts";
import { text } from "./text/text.ts";

/** The screen for visitors without a session. Afterwards the page of the address is shown. */
export function SignIn() {
  const { key, setKey, error, isBusy, submit } = useKeySignIn();
  const hasOidc = signInOptions.value.oidc !== null;
  return (
    <main class="sign-in">
      <form class="sign-in-card" onSubmit={submit}>
        <h1>
          <Mark />
          {text.signIn.title}
        </h1>
        {hasEnded.value ? (
          <p class="notice" role="status">
            {text.signIn.ended}
          </p>
        ) : null}
        {sessionError.value === null ? null : (
          <ErrorBox error={sessionError.value} onRetry={() => void startSession()} />
        )}
        <OidcLink />
        <Field
          label={text.signIn.key}
          hint={text.signIn.keyHint}
          error={error ?? signInError.value}
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={setKey}
          isRequired
          hasFocus={!hasOidc}
        />
        <Button kind={hasOidc ? "plain" : "primary"} isSubmit isBusy={isBusy}>
          {text.signIn.submit}
        </Button>
        <p class="field-hint">{text.signIn.help}</p>
      </form>
    </main>
  );
}

/** Begins the sign-in through the provider that the gateway is configured with, which comes before the key. Nothing without one. */
function OidcLink() {
  const { oidc } = signInOptions.value;
  if (oidc === null) return null;
  return (
    <>
      <a class="button primary" href={oidcStart()}>
        {text.signIn.oidc(oidc.name)}
      </a>
      <p class="sign-in-or">{text.signIn.or}</p>
    </>
  );
}
