import { effect, signal } from "@preact/signals";
import { call } from "../api/client.ts";
import { optionsOf, whenLoaded } from "./names.ts";
import { can, session } from "./session.ts";
import { readStored, store } from "./stored.ts";

/** Whether the steps of the screen "Welcome" are done: `unknown` until the gateway has said so. */
type FirstSteps = "unknown" | "open" | "done";

const STORED = "first-steps";

/** Whether the first steps are done. They stay done: a key that is deleted later brings them back only in another browser. */
export const firstSteps = signal<FirstSteps>("unknown");

/** Marks the steps as done, and remembers it in this browser. */
export function finishFirstSteps(): void {
  firstSteps.value = "done";
  store(STORED, nameSession());
}

/** Returns whether models of a provider can be called, not only those of the sandbox. */
export function hasProvider(models: readonly string[]): boolean {
  return models.some(
    (id) => !id.startsWith("sandbox/") && !id.includes("/sandbox-") && !id.startsWith("gateway-auto/"),
  );
}

/** Who is signed in: what is done for one account need not be done for another. */
function nameSession(): string {
  return session.value?.account?.id ?? "operator";
}

/** Asks about the steps after each sign-in. If the gateway does not answer, they count as open. */
export function followFirstSteps(): void {
  let asked: string | null = null;
  effect(() => {
    if (!session.value) return;
    const name = nameSession();
    if (asked === name) return;
    asked = name;
    // They are for those who set up the account.
    if (!can("read")) firstSteps.value = "done";
    else if (readStored(STORED) === name) firstSteps.value = "done";
    else void ask();
  });
}

async function ask(): Promise<void> {
  firstSteps.value = "unknown";
  try {
    const [keys, requests, models] = await Promise.all([
      call("GET /api/admin/keys", { query: { limit: 100 } }),
      call("GET /api/admin/generations", { query: { limit: 1 } }),
      whenLoaded("models").then(() => optionsOf("models")),
    ]);
    const hasKey = keys.data.some(({ kind, revoked_at }) => kind === "inference" && revoked_at === null);
    if (hasKey && requests.data.length > 0 && hasProvider(models.map(({ value }) => value)))
      finishFirstSteps();
    else firstSteps.value = "open";
  } catch {
    firstSteps.value = "open";
  }
}
