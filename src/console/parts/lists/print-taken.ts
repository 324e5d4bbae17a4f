import type { TakenParameter } from "../../api/schema.ts";
import { text } from "../../text/text.ts";

const words = text.takes;

/** Describes what is taken of a parameter: `At most 1.5`, `Only 1 while it reasons`. */
export function printTaken({ taken, not_with, while_reasoning, ...range }: TakenParameter): string {
  if (taken !== "some") return taken === "yes" ? words.yes : words.no;
  const rule = not_with === undefined ? printRange(range) : printBeside(not_with);
  return while_reasoning === true ? `${rule} ${words.whileReasoning}` : rule;
}

function printRange({
  values,
  min,
  max,
  list,
}: Pick<TakenParameter, "values" | "min" | "max" | "list">): string {
  if (list === true) return words.list;
  if (values !== undefined) return values.length === 0 ? words.no : words.only(values.map(String).join(", "));
  if (min !== undefined && max !== undefined) return words.between(min, max);
  return max === undefined ? words.atLeast(min ?? 0) : words.atMost(max);
}

function printBeside({ parameter, values = [] }: NonNullable<TakenParameter["not_with"]>): string {
  return words.notBeside([parameter, values.map(String).join(", ")].filter((part) => part !== "").join(" "));
}
