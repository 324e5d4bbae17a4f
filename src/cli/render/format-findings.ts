import type { NamedFinding } from "../../app/doctor/examine-installation.ts";

const MARKS: Readonly<Record<NamedFinding["status"], string>> = {
  ok: "ok     ",
  warning: "WARNING",
  failure: "FAILURE",
};

/** Formats findings with their remedies, and their number as the last line. */
export function formatFindings(found: readonly NamedFinding[]): string {
  const lines = found.flatMap(({ status, check, text, remedy }) => [
    `${MARKS[status]}  ${check}: ${text}`,
    ...(remedy === null ? [] : [`         ${remedy}`]),
  ]);
  const count = (status: NamedFinding["status"]) => found.filter((one) => one.status === status).length;
  return [...lines, "", `${count("failure")} failures, ${count("warning")} warnings.`].join("\n");
}
