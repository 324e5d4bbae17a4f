import type { ScreenProps } from "../../state/screen.ts";
import { session } from "../../state/session.ts";
import { AccountList } from "./account-list.tsx";
import { AccountPage } from "./account-page.tsx";
import { MemberPage } from "./member-page.tsx";

/** Users and organizations: all for the operator, otherwise the account that the session manages; or one of its members. */
export default function People({ params }: ScreenProps) {
  const id = params["account"] ?? session.value?.account?.id ?? null;
  const user = params["user"];
  if (id !== null && user !== undefined) return <MemberPage key={user} organization={id} user={user} />;
  return id === null ? <AccountList /> : <AccountPage key={id} id={id} />;
}
