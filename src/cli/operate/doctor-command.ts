import type { Command } from "commander";
import { configSchema } from "../../app/config/config-schema.ts";
import { examineInstallation } from "../../app/doctor/examine-installation.ts";
import { findConfigProblems } from "../../app/serving/find-config-problems.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { formatFindings } from "../render/format-findings.ts";
import { print } from "../render/print.ts";

/** `gateway doctor`: prints the problems of an installation, and how to fix them. */
export function declareDoctorCommand(command: Command): void {
  addJsonOption(command).action(examine);
}

async function examine({ json }: JsonOption): Promise<void> {
  const sources = { environment: process.env, clock: systemClock, random: createSystemRandom() };
  const findings = await findConfigProblems(sources);
  // If the file cannot be parsed, the rest is checked with the defaults.
  const config = findings.config ?? configSchema.parse({});
  const found = await examineInstallation({ ...sources, config, findings });
  if (found.some(({ status }) => status === "failure")) process.exitCode = EXIT_CODES.failed;
  print(json ? JSON.stringify({ data: found }) : formatFindings(found));
}
