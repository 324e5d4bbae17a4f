import type { Subject } from "../load/harness.ts";
import type { Door } from "../load/messages.ts";
import type { LaneName } from "./lanes.ts";

/** A variant that is measured, before it is started. One file in `targets/` for each. */
export interface Contestant {
  readonly name: string;
  /** Name and version, as tables show it. */
  readonly label: string;
  /** The only parts in which it is measured. Absent: all. */
  readonly parts?: readonly string[];
  /** Installs what is missing. Rejects with a message that says what to install by hand. */
  prepare(): Promise<void>;
  /**
   * Starts it in front of the upstream; resolves once it answers. `environment`: further variables, which only programs on Bun take
   * that are part of this project.
   */
  start(upstreamPort: number, environment?: Readonly<Record<string, string>>): Promise<Running>;
}

/** A variant that runs. Its door is that of chat completions. */
export interface Running extends Subject {
  readonly name: string;
  /** Its paths in front of other formats, such as chat completions that it translates for an Anthropic upstream. */
  readonly lanes: ReadonlyMap<LaneName, Door>;
  stop(): Promise<void>;
}

/** The beginning of the names of programs that do a part of this gateway's work. */
export const FLOOR_PREFIX = "floor-";

/** Returns whether a variant of this name does only a part of this gateway's work. */
export function isFloor(name: string): boolean {
  return name.startsWith(FLOOR_PREFIX);
}

/** The model of all requests, as the upstream names it. */
export const MODEL = "gpt-4o-mini";
/** The model of requests that are translated for Anthropic. */
export const ANTHROPIC_MODEL = "claude-haiku-4-5";

/** The lane of chat completions that are translated for an Anthropic upstream. */
export const TRANSLATED: LaneName = "chat-messages";

/** Returns the door of a chat API that forwards to a chat upstream. */
export function chatDoor(port: number, differing: Partial<Door> = {}): Door {
  return {
    api: "chat",
    vendor: "chat",
    port,
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer bench" },
    model: MODEL,
    ...differing,
  };
}
