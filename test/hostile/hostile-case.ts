import type { Field } from "./field.ts";

/** Something that an attacker sends, or a broken vendor answers, and what the gateway promises of it. */
export interface HostileCase {
  readonly name: string;
  /** The most that it may hold up the event loop; 100 ms unless said. */
  readonly maxStallMs?: number;
  /** The most memory that it may take on top, megabytes; not looked at unless said. */
  readonly maxMemoryMb?: number;
  /** Configuration of a gateway that is this case's alone; unless said, the cases share one. */
  readonly config?: string;
  /** Gives what came of it, for the table: statuses. Throws what was promised and is not so. */
  run(field: Field): Promise<string>;
}

/** Fails a case. */
export function promise(isKept: boolean, problem: string): asserts isKept {
  if (!isKept) throw new Error(problem);
}

/** Fails a case whose answer has another status. */
export async function expectStatus(response: Response, ...expected: readonly number[]): Promise<string> {
  const text = await response.text();
  promise(expected.includes(response.status), `status ${response.status}: ${text.slice(0, 300)}`);
  return String(response.status);
}

/** Fails a case whose answer is no error of the caller's that names what is too much. */
export async function expectRefusal(response: Response, words: string): Promise<string> {
  const text = await response.text();
  promise(
    response.status === 400 && text.includes(words),
    `status ${response.status}: ${text.slice(0, 300)}`,
  );
  return "400";
}
