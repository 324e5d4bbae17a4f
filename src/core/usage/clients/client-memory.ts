import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { type ClientProgram, MAX_READ, parseClient } from "./client-family.ts";

/** The number of `User-Agent` values that are remembered. A gateway sees few different ones. */
const MAX_REMEMBERED = 1_000;

/** Names clients by their `User-Agent`. Remembers the latest values, because reading one takes longer than finding it. */
export class ClientMemory {
  private readonly programs = new BoundedMap<string, ClientProgram>({ max: MAX_REMEMBERED });

  /** Returns the client that a `User-Agent` names; null without one. */
  find(userAgent: string | null): ClientProgram | null {
    if (userAgent === null) return null;
    const known = this.programs.get(userAgent);
    if (known !== undefined) return known;
    const program = parseClient(userAgent);
    // Longer values are not kept: each would take as much memory as its client likes.
    if (program !== null && userAgent.length <= MAX_READ) this.programs.set(userAgent, program);
    return program;
  }
}
