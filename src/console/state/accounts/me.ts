import { signal } from "@preact/signals";
import { call } from "../../api/client.ts";
import type { Me } from "../../api/schema.ts";
import { type Loaded, useLoad } from "../load.ts";
import { session } from "../session.ts";

/** How often something has changed what `GET /api/admin/me` says, such as a key that was made. */
const changes = signal(0);

/** Loads again what is left for the person, because they have changed something. */
export function meChanged(): void {
  changes.value += 1;
}

/** Loads who the signed-in person is and what is left for them. `isNeeded` is false where nothing depends on it. */
export function useMe(isNeeded = true): Loaded<Me> {
  const key = `${session.value?.key_id ?? ""} ${changes.value}`;
  return useLoad(isNeeded ? key : null, async (signal) => {
    return (await call("GET /api/admin/me", { signal })).data;
  });
}
