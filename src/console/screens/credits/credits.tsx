import type { ScreenProps } from "../../state/screen.ts";
import { session } from "../../state/session.ts";
import { AccountCredits } from "./account-credits.tsx";
import { Balances } from "./balances.tsx";

/** Credits: of all accounts for the operator, otherwise of the account that the session manages. */
export default function Credits({ params }: ScreenProps) {
  const own = session.value?.account ?? null;
  const id = params["account"] ?? own?.id ?? null;
  return id === null ? (
    <Balances />
  ) : (
    <AccountCredits key={id} id={id} knownName={own?.id === id ? own.name : null} />
  );
}
