import type { ApiError } from "../../api/client.ts";
import type { Form } from "../../state/form.ts";
import { isSignInAgain, signInAgain } from "../../state/session.ts";
import { text } from "../../text/text.ts";
import { Button } from "../controls/button.tsx";
import { ErrorBox } from "../layout/states.tsx";

/**
 * The error of a form that concerns none of its fields. If it asks for a recent sign-in, it has a button that begins one; what was typed
 * into `form` is restored afterwards.
 */
export function FormError({ error, form }: { error: ApiError | null; form?: Pick<Form<object>, "keep"> }) {
  if (error === null) return null;
  if (!isSignInAgain(error)) return <ErrorBox error={error} />;
  const begin = () => {
    form?.keep();
    signInAgain();
  };
  return (
    <div class="stack">
      <ErrorBox error={error} />
      <Button kind="primary" onClick={begin}>
        {text.signIn.again}
      </Button>
    </div>
  );
}
