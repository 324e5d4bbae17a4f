/** Writes a version into every file that shows it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What only the publisher of the npm package knows. `null`: as it is in package.json. */
export interface Publisher {
  readonly name: string | null;
  readonly repository: string | null;
  readonly homepage: string | null;
  readonly bugs: string | null;
  readonly author: string | null;
}

/** The fields of package.json that concern the publisher. */
interface PackageFields {
  name: string;
  version: string;
  repository?: unknown;
  homepage?: unknown;
  bugs?: unknown;
  author?: unknown;
}

/** The name that the package has in the sources. On npm it is another project's. */
const UNPUBLISHED_NAME = "gateway";

/** Sets the version of a copy of the project, whose present version is in its package.json, and what is given of its publisher. */
export async function setVersion(folder: string, version: string, publisher: Publisher): Promise<void> {
  const before = readPackage(folder).version;
  changeJson(join(folder, "package.json"), (content) => setPackage(content, version, publisher));
  changeJson(join(folder, "package-lock.json"), (content) => {
    const packages = content["packages"] as Record<string, PackageFields>;
    for (const one of [content as unknown as PackageFields, packages[""] as PackageFields]) {
      one.version = version;
      one.name = publisher.name ?? one.name;
    }
  });
  change(join(folder, "CHANGELOG.md"), (text) => releaseChanges(text, version));
  await keepSurface(folder);
  await setChartVersion(folder, before, version);
  for (const pages of ["*.md", "docs/**/*.md"])
    for await (const name of new Bun.Glob(pages).scan(folder))
      if (name !== "CHANGELOG.md")
        change(join(folder, name), (text) => text.replaceAll(`gateway-${before}.`, `gateway-${version}.`));
}

/** Keeps what the release promises, with which `npm run check` compares from then on. */
async function keepSurface(folder: string): Promise<void> {
  const surface = join(folder, "docs/surface");
  for await (const name of new Bun.Glob("*.txt").scan(surface))
    await Bun.write(join(surface, "released", name), Bun.file(join(surface, name)));
}

/** Makes the unreleased changes those of a version, with an empty section of unreleased ones before it. */
export function releaseChanges(text: string, version: string): string {
  return text.replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version}`);
}

/** Lists the options with which what the npm package lacks for its publication is set. */
export function findMissingFields(folder: string): readonly string[] {
  const content = readPackage(folder);
  const missing = (["repository", "homepage", "bugs", "author"] as const).filter(
    (field) => content[field] === undefined,
  );
  const options = missing.map((field) => `--${field}`);
  return content.name === UNPUBLISHED_NAME ? ["--package", ...options] : options;
}

function readPackage(folder: string): PackageFields {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function setPackage(content: Record<string, unknown>, version: string, publisher: Publisher): void {
  content["version"] = version;
  const { name, repository, homepage, bugs, author } = publisher;
  if (name !== null) content["name"] = name;
  if (repository !== null) content["repository"] = { type: "git", url: repository };
  if (homepage !== null) content["homepage"] = homepage;
  if (bugs !== null) content["bugs"] = { url: bugs };
  if (author !== null) content["author"] = author;
}

/** The rendered files are checked in, and Helm need not be there: it would write exactly these three. */
async function setChartVersion(folder: string, before: string, version: string): Promise<void> {
  change(join(folder, "deploy/helm/gateway/Chart.yaml"), (text) =>
    text
      .replace(/^version: .*$/m, `version: ${version}`)
      .replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
  );
  // The copy's own script, which knows the chart of the copy.
  const { headOf, listRenderings } = (await import(
    join(folder, "scripts/generate/render-chart.ts")
  )) as typeof import("../generate/render-chart.ts");
  for (const { values, rendered } of listRenderings())
    change(rendered, (text) =>
      text
        .replace(/^# Rendered by .*$/m, headOf(values))
        .replaceAll(`helm.sh/chart: gateway-${before}\n`, `helm.sh/chart: gateway-${version}\n`)
        .replaceAll(`app.kubernetes.io/version: "${before}"\n`, `app.kubernetes.io/version: "${version}"\n`)
        .replaceAll(`image: gateway:${before}\n`, `image: gateway:${version}\n`),
    );
}

function changeJson(file: string, edit: (content: Record<string, unknown>) => void): void {
  change(file, (text) => {
    const content = JSON.parse(text) as Record<string, unknown>;
    edit(content);
    return `${JSON.stringify(content, null, 2)}\n`;
  });
}

function change(file: string, edit: (text: string) => string): void {
  const text = readFileSync(file, "utf8");
  const changed = edit(text);
  if (changed !== text) writeFileSync(file, changed);
}
