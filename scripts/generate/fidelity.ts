import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { FEATURES } from "../test/fidelity/answers/features.ts";
import { goldenAnswer } from "../test/fidelity/answers/golden-answers.ts";
import { runFeature } from "../test/fidelity/answers/run-answers.ts";
import type { Golden } from "../test/fidelity/golden.ts";
import { REQUEST_CASES } from "../test/fidelity/requests/cases.ts";
import { goldenRequest } from "../test/fidelity/requests/golden-requests.ts";
import { runRequest } from "../test/fidelity/requests/run-requests.ts";
import { writeTable } from "../test/fidelity/table.ts";

const goldens: Golden[] = [
  ...REQUEST_CASES.flatMap(([, cases]) => cases.map((one) => goldenRequest(one, runRequest(one)))),
  ...FEATURES.map((feature) => goldenAnswer(feature, runFeature(feature))),
];
rmSync(join(import.meta.dir, "../test/fidelity/golden"), { recursive: true, force: true });
for (const { path, text } of goldens) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
writeFileSync(join(import.meta.dir, "../docs/fidelity.md"), writeTable());
