import type { TestBed } from "./test-bed.ts";

/** Input of an attacker or answer of a broken vendor, and the expected behavior of the gateway. */
export interface HostileCase {
  readonly name: string;
  /** The maximum stall of the event loop; 100 ms by default. */
  readonly maxStallMs?: number;
  /** The maximum of additional memory, megabytes; not checked by default. */
  readonly maxMemoryMb?: number;
  /** Configuration of a gateway for this case alone; by default the cases share one. */
  readonly config?: string;
  /** Returns the result for the table: statuses. Throws if an expectation is violated. */
  run(bed: TestBed): Promise<string>;
}

/** Fails a case. */
export function ensure(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}

/** Fails a case whose answer has another status. */
export async function expectStatus(response: Response, ...expected: readonly number[]): Promise<string> {
  const text = await response.text();
  ensure(expected.includes(response.status), `status ${response.status}: ${text.slice(0, 300)}`);
  return String(response.status);
}

/** Fails a case whose answer is not a client error that names the exceeded bound. */
export async function expectRefusal(response: Response, words: string): Promise<string> {
  const text = await response.text();
  ensure(response.status === 400 && text.includes(words), `status ${response.status}: ${text.slice(0, 300)}`);
  return "400";
}
