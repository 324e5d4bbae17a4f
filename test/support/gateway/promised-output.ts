import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { COMMAND_OUTPUT } from "../../../scripts/surface/areas.ts";
import { pathOf } from "../../../scripts/surface/entry.ts";
import { listForms, type Printed } from "../../../scripts/surface/list-forms.ts";
import { renderSurface, surfaceFile } from "../../../scripts/surface/list-surface.ts";

/**
 * Expects commands to have printed JSON in the form that docs/surface/command-output.txt promises for them. With UPDATE_SURFACE=true it
 * writes their lines there instead.
 */
export function expectPromisedOutput(printed: readonly Printed[]): void {
  const file = surfaceFile(COMMAND_OUTPUT);
  const commands = new Set(printed.map(({ command }) => command));
  const isTheirs = (line: string) => commands.has(pathOf(line)[0] as string);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const forms = renderSurface(listForms(printed)).trimEnd().split("\n");
  if (process.env["UPDATE_SURFACE"] !== "true") expect(forms).toEqual(lines.filter(isTheirs));
  else writeFileSync(file, `${[...lines.filter((line) => !isTheirs(line)), ...forms].sort().join("\n")}\n`);
}
