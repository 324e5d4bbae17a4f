import { computed, signal } from "@preact/signals";
import { atBase } from "../api/base.ts";
import { ApiError, callPath, whenSignedOut } from "../api/client.ts";
import type { Me } from "../api/schema.ts";
import { path, ROOT, readUrl } from "./location.ts";

/** What a signed-in person may do in the account: the rights of their role, as the API checks them. */
export type Right = Me["rights"][number];

/** What `GET /api/console/session` says about the session. */
export interface Session {
  /** The operator's role, or that in an organization. It is shown; what a person may do follows from the rights. */
  readonly role: Me["role"];
  readonly rights: readonly Right[];
  readonly teams: Me["teams"];
  readonly account: { readonly id: string; readonly name: string; readonly kind: string } | null;
  readonly user: { readonly id: string; readonly name: string } | null;
  readonly key_id: string | null;
  readonly expires_at: string;
  readonly version: string;
  readonly base_url: string;
  readonly sign_in?: SignInOptions;
}

/** The ways to sign in other than with a key. */
interface SignInOptions {
  readonly oidc: { readonly name: string } | null;
}

/** The ways to sign in other than with a key, from the API's last answer. */
export const signInOptions = signal<SignInOptions>({ oidc: null });
const OIDC_START = "/api/console/oidc/start";

/** Returns where a browser begins to sign in through the provider, to come back to the screen that it shows. */
export function oidcStart(more: Readonly<Record<string, string>> = {}): string {
  return `${OIDC_START}?${new URLSearchParams({ return_to: readUrl(), ...more })}`;
}

/** Returns whether something failed because the last sign-in at the provider is too long ago. */
export function isSignInAgain({ metadata }: ApiError): boolean {
  return metadata["reason"] === "sign_in_again";
}

/** Leaves for the provider, where the person proves again who they are. */
export function signInAgain(): void {
  window.location.assign(atBase(oidcStart({ again: "true" })));
}

/** The session: `undefined` until it is known, null without one. */
export const session = signal<Session | null | undefined>(undefined);
/** Whether a session ended while the console was open. */
export const hasEnded = signal(false);
/** Why the session could not be read; null if it could. */
export const sessionError = signal<ApiError | null>(null);

/** Whether the signed-in person is the operator. */
export const isOperator = computed(() => session.value?.role === "operator");

/** Returns whether the signed-in person has a right in the account. */
export function can(right: Right): boolean {
  return session.value?.rights.includes(right) ?? false;
}

/** Returns whether the signed-in person leads a team. */
export function leads(teamId: string | null): boolean {
  return session.value?.teams.some(({ id, is_lead }) => is_lead && id === teamId) ?? false;
}

/** Returns whether the signed-in person leads any team. */
export function leadsAny(): boolean {
  return session.value?.teams.some(({ is_lead }) => is_lead) ?? false;
}

/** Returns whether a user is the signed-in person. */
export function isSelf(userId: string | null): boolean {
  return userId !== null && session.value?.user?.id === userId;
}

/** Whether the browser shows the page of an invitation's link, which is outside of a session. */
export const isInvitation = computed(() => path.value === `${ROOT}/invite`);
/** The secret of that link, which only the memory of the page has; null if the page was opened without one. */
export const invitationCode = signal<string | null>(null);

const SESSION = "/api/console/session";

/** Reads the session, using the one-time code in the address if there is one. The code of an invitation is for its page. */
export async function startSession(): Promise<void> {
  whenSignedOut(endSession);
  const code = takeCode();
  if (code !== null && isInvitation.value) invitationCode.value = code;
  else if (code !== null) {
    const error = await signIn({ code });
    if (error === null) return;
    signInError.value = error.message;
  }
  await readSession();
}

/**
 * Uses a one-time code that is pasted into the address of a tab that already shows the console, because the browser does not load the page
 * again.
 */
export function followCodes(): void {
  window.addEventListener("hashchange", () => {
    if (window.location.hash.startsWith("#code=")) void startSession();
  });
}

/** Why the code of the address was refused; null if it was not. */
export const signInError = signal<string | null>(null);

/** Reads the code from the fragment, and removes it immediately from the address and the history. */
function takeCode(): string | null {
  const code = new URLSearchParams(window.location.hash.slice(1)).get("code");
  if (code !== null) history.replaceState(null, "", window.location.pathname + window.location.search);
  return code;
}

/** Reads the session of the browser's cookie. */
export async function readSession(): Promise<void> {
  try {
    sessionError.value = null;
    const read = (await callPath(`GET ${SESSION}`)) as Session;
    if (read.sign_in !== undefined) signInOptions.value = read.sign_in;
    session.value = read;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Before the session, so that the sign-in page is drawn once, with all ways to sign in.
    const options = error.metadata["sign_in"] as SignInOptions | undefined;
    if (options !== undefined) signInOptions.value = options;
    session.value = null;
    if (error.status !== 401) sessionError.value = error;
  }
}

function endSession(): void {
  if (session.value) hasEnded.value = true;
  session.value = null;
}

/** Signs in with a management key or a one-time code. Resolves with null, or with why it failed. */
export async function signIn(credential: { key: string } | { code: string }): Promise<ApiError | null> {
  try {
    await callPath(`POST ${SESSION}`, { body: credential });
    await readSession();
    hasEnded.value = false;
    signInError.value = null;
    return sessionError.value;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Ends the session. A browser that signed in through a provider goes there, to sign out there, too. */
export async function signOut(): Promise<void> {
  const answer = await callPath(`DELETE ${SESSION}`).catch(() => ({}));
  const url = (answer as { readonly sign_out_url?: string | null }).sign_out_url;
  if (url) {
    window.location.assign(url);
    return;
  }
  session.value = null;
  hasEnded.value = false;
}
