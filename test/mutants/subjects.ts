import { Glob } from "bun";

/** The code where money, access, privacy and translation are decided: the files that mutants are drawn from. */
const SUBJECTS = [
  "src/base/numbers/money.ts",
  "src/core/accounts/*.ts",
  "src/core/catalog/{price,pricing,max-cost,expiry,apply-overrides,resolve}*.ts",
  "src/core/console/*.ts",
  "src/core/extensions/**/*.ts",
  "src/core/generation/**/*.ts",
  "src/core/idempotency/*.ts",
  "src/core/ledger/*.ts",
  "src/core/limits/*.ts",
  "src/core/provider-keys/*.ts",
  "src/core/routing/{select,resolve,plan,choose}*.ts",
  "src/core/usage/{recorder,recover,record,usage-sums}*.ts",
  "src/http/api/*.ts",
  "src/http/middleware/*.ts",
  "src/storage/sql/**/*.ts",
  "src/storage/sqlite/{,connection/,ledger/,usage/}*.ts",
  "src/wire/canonical/**/*.ts",
  "src/wire/conversation/**/*.ts",
  "src/wire/*/{passthrough,translate}/**/*.ts",
];

/** Returns the paths of the files that mutants are drawn from, sorted, from the project's root. */
export function listSubjects(root: string): string[] {
  const found = SUBJECTS.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root })]);
  return [...new Set(found)].sort();
}
