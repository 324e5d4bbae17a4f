import type { Answer } from "./clients.ts";
import type { Done } from "./faults.ts";

/** Prints how often each answer was seen and each fault was done. */
export function describeRun(answers: readonly Answer[], faults: readonly Done[]): void {
  print("answers", answers.map(nameOf));
  print(
    "faults",
    faults.map(({ name }) => name),
  );
}

function nameOf({ one, error, hasLeft, isTooLate, isBroken }: Answer): string {
  if (isBroken) return "connection broken";
  if (isTooLate) return "client gave up waiting";
  if (hasLeft) return "client left";
  return error === null ? "complete" : `${one.status} ${error.type}`;
}

function print(title: string, names: readonly string[]): void {
  const counts = Map.groupBy(names, (name) => name);
  console.log(`${title}: ${names.length}`);
  for (const [name, { length }] of [...counts].sort(([, a], [, b]) => b.length - a.length))
    console.log(`  ${String(length).padStart(6)} ${name}`);
}
