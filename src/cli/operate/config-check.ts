import type { Command } from "commander";
import {
  type ConfigProblem,
  formatProblem,
  plainProblem,
  presentProblem,
} from "../../app/config/config-error.ts";
import type { Config } from "../../app/config/config-schema.ts";
import { type ConfigFindings, findConfigProblems } from "../../app/serving/find-config-problems.ts";
import { probeStores } from "../../app/stores/probe-stores.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { addExamples, addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { print } from "../render/print.ts";

interface CheckOptions extends JsonOption {
  readonly connect?: true;
}

/** `gateway config check [file]`: everything that is wrong with the configuration, before a start. */
export function addConfigCheck(config: Command): void {
  const command = config
    .command("check")
    .description(
      "Check the configuration and the environment as a start reads them, and print every problem. Exits with 1 if there is one",
    )
    .argument("[file]", "Configuration file (default: GATEWAY_CONFIG, else gateway.yaml)")
    .option("--connect", "Also check that the database and Redis answer");
  addExamples(command, ["gateway config check", "gateway config check new.yaml --connect"]);
  addJsonOption(command).action(check);
}

async function check(file: string | undefined, { connect, json }: CheckOptions): Promise<void> {
  const sources = { environment: process.env, clock: systemClock, random: createSystemRandom() };
  const findings = await findConfigProblems(sources, file);
  const { config } = findings;
  const away = connect && config !== null ? await findAway(config) : [];
  // A start ignores such a variable, but it is most likely a mistake.
  const isUnknownVariable = ({ variable, path }: ConfigProblem) => variable !== null && path.length === 0;
  const errors = [...findings.problems, ...findings.warnings.filter(isUnknownVariable), ...away];
  const warnings = findings.warnings.filter((warning) => !isUnknownVariable(warning));
  if (errors.length > 0) process.exitCode = EXIT_CODES.failed;
  print(json ? printJson(findings, errors, warnings) : printText(findings, errors, warnings));
}

async function findAway(config: Config): Promise<readonly ConfigProblem[]> {
  const probes = Object.values(await probeStores(config, systemClock));
  return probes.flatMap((probed) =>
    probed?.kind === "failed" ? [plainProblem(`${probed.location} cannot be used: ${probed.reason}`)] : [],
  );
}

type Problems = readonly ConfigProblem[];

function printJson({ file }: ConfigFindings, errors: Problems, warnings: Problems): string {
  const valid = errors.length === 0;
  const data = { file, valid, errors: errors.map(presentProblem), warnings: warnings.map(presentProblem) };
  return JSON.stringify({ data });
}

function printText({ file }: ConfigFindings, errors: Problems, warnings: Problems): string {
  const lines = [...errors.map(formatProblem), ...warnings.map((one) => `warning: ${formatProblem(one)}`)];
  const name = file ?? "The configuration";
  const verdict =
    errors.length === 0
      ? `${name} and the environment are valid.`
      : `${name} and the environment have ${errors.length} problem${errors.length === 1 ? "" : "s"}.`;
  return [...lines, verdict].join("\n");
}
