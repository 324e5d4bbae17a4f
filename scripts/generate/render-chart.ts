/**
 * Renders the Helm chart with each file of values in its folder `ci`, into `deploy/helm/rendered`. The rendered
 * files are checked in, so that a change of the chart shows what it changes, and so that they can be checked where Helm is missing.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const HELM_FOLDER = join(import.meta.dir, "../..", "deploy", "helm");
export const CHART = join(HELM_FOLDER, "gateway");
const RENDERED = join(HELM_FOLDER, "rendered");

/** The version of Kubernetes to render for: Helm has no cluster to ask. */
const KUBERNETES = "1.34.0";

/** Lists the files with values, and the file that each is rendered into. */
export function listRenderings(): readonly { readonly values: string; readonly rendered: string }[] {
  return readdirSync(join(CHART, "ci"))
    .sort()
    .map((name) => ({
      values: join(CHART, "ci", name),
      rendered: join(RENDERED, name.replace("-values", "")),
    }));
}

/** Returns the first line of a rendered file, by which a file that is older than its chart is found without Helm. */
export function headOf(values: string): string {
  const templates = readdirSync(join(CHART, "templates"))
    .sort()
    .map((name) => join("templates", name));
  const hasher = new Bun.CryptoHasher("sha256");
  for (const name of ["Chart.yaml", "values.yaml", ...templates])
    hasher.update(readFileSync(join(CHART, name)));
  hasher.update(readFileSync(values));
  return `# Rendered by \`npm run generate\` from the chart with the hash ${hasher.digest("hex").slice(0, 16)}.`;
}

/** The command that renders the chart with values of a file. */
export function renderCommand(values: string, helm = "helm"): string[] {
  return [
    helm,
    "template",
    "gateway",
    CHART,
    "--namespace",
    "ai",
    "--kube-version",
    KUBERNETES,
    "--values",
    values,
  ];
}

/**
 * Renders the chart where a rendered file is older than it. Only then is `helm` needed.
 * @returns the text of each rendered file, by its path.
 */
export async function renderChart(): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { values, rendered } of listRenderings()) {
    const head = headOf(values);
    const present = existsSync(rendered) ? readFileSync(rendered, "utf8") : "";
    texts.set(rendered, present.startsWith(`${head}\n`) ? present : `${head}\n${await runHelm(values)}`);
  }
  return texts;
}

async function runHelm(values: string): Promise<string> {
  const child = Bun.spawn(renderCommand(values), { stdout: "pipe", stderr: "inherit" });
  const text = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`helm cannot render the chart with ${values}`);
  return text;
}
