import { StoreError } from "../../base/failures/store-error.ts";
import { formatProblem } from "../config/config-error.ts";
import { checkConsole } from "./check-console.ts";
import { checkDatabaseFile, checkDataDirectory, checkMasterKey } from "./check-data-directory.ts";
import { checkGuardrails } from "./check-guardrails.ts";
import { checkDescriptors, checkMemory, checkRuntime } from "./check-machine.ts";
import { checkAddress, checkCertificate } from "./check-network.ts";
import { checkCatalog, checkProviderKeys } from "./check-providers.ts";
import { checkPostgres, checkRedis } from "./check-servers.ts";
import { type Check, type DoctorScene, type Finding, failure, ok, warning } from "./finding.ts";

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  readonly check: string;
}

/** The longest time for a check. Milliseconds. */
const CHECK_MS = 10_000;

const CHECKS: readonly Check[] = [
  { name: "runtime", run: checkRuntime },
  { name: "configuration", run: checkConfiguration },
  { name: "data directory", run: checkDataDirectory },
  { name: "database file", run: checkDatabaseFile },
  { name: "master key", run: checkMasterKey },
  { name: "PostgreSQL", run: checkPostgres },
  { name: "Redis", run: checkRedis },
  { name: "catalog", run: checkCatalog },
  { name: "provider keys", run: checkProviderKeys },
  { name: "guardrails", run: checkGuardrails },
  { name: "address", run: checkAddress },
  { name: "console", run: checkConsole },
  { name: "certificate", run: checkCertificate },
  { name: "file descriptors", run: checkDescriptors },
  { name: "memory", run: checkMemory },
];

/** Checks an installation: all subjects at the same time, each within ten seconds. Changes nothing. */
export async function examineInstallation(scene: DoctorScene): Promise<readonly NamedFinding[]> {
  const found = await Promise.all(CHECKS.map((check) => runBounded(check, scene)));
  return found.flat();
}

async function runBounded({ name, run }: Check, scene: DoctorScene): Promise<readonly NamedFinding[]> {
  const late = Promise.withResolvers<never>();
  const timer = scene.clock.after(CHECK_MS, () =>
    late.reject(new StoreError(`the check has had no result for ${CHECK_MS / 1_000} s`)),
  );
  try {
    const work = Promise.resolve().then(() => run(scene));
    return (await Promise.race([work, late.promise])).map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    return [
      { check: name, ...failure(`cannot be checked: ${(error as Error).message}`, "Repair this first.") },
    ];
  } finally {
    timer.cancel();
  }
}

function checkConfiguration({ findings }: DoctorScene): readonly Finding[] {
  const { file, problems, warnings } = findings;
  const found = [
    ...problems.map((problem) =>
      failure(formatProblem(problem), "Change it, and run `gateway config check`."),
    ),
    ...warnings.map((problem) => warning(formatProblem(problem), "Change it if it is not intended.")),
  ];
  return found.length > 0 ? found : [ok(`${file} and the environment are valid`)];
}
