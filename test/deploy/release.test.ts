import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { OWN_TARGET } from "../../scripts/build/build-executable.ts";
import { compareBytes } from "../../scripts/release/compare-builds.ts";
import { findChangelogProblems, parseChangelog } from "../../scripts/release/release-notes.ts";
import { adoptRelease, findStart } from "../../scripts/release/repository.ts";
import { listRuntimePackages } from "../../scripts/release/sbom.ts";
import { releaseChanges } from "../../scripts/release/set-version.ts";
import { AREAS } from "../../scripts/surface/areas.ts";
import { postChatTo } from "../support/gateway/gateway-process.ts";
import { checkInstallation } from "./check-installation.ts";
import { findTool } from "./find-tool.ts";
import { performDockerfile } from "./perform-dockerfile.ts";
import {
  configure,
  createFolder,
  type Folder,
  IS_DEPLOY_RUN,
  NOTHING_FOUND,
  ROOT,
  requireRun,
  runChecker,
  runProgram,
  toolEnvironment,
} from "./run-program.ts";
import { killStarted, startInstalled } from "./started-gateway.ts";

const VERSION = "99.1.0";
/** A change that a released version has, whatever is in the changelog now. */
const CHANGE = "- A change that the test makes.";
/** How long a release may take: its packages are installed three times. Milliseconds. */
const RELEASE_MS = 400_000;
const HELM = findTool("helm", "the packed chart is rendered where it is");
const VALIDATE = findTool("kubernetes-validate", "PyPI: kubernetes-validate");
const PYTHON = findPython();

/** Returns a Python that has the schemas of CycloneDX; null, with a line that says so, if there is none. */
function findPython(): string | null {
  const python = process.env["GATEWAY_PYTHON"] ?? Bun.which("python3");
  if (!IS_DEPLOY_RUN || python === null) return null;
  if (Bun.spawnSync([python, "-c", "import cyclonedx.validation.json, jsonschema"]).exitCode === 0)
    return python;
  console.warn(
    "skipped: a Python with cyclonedx-python-lib[json-validation] is not installed (GATEWAY_PYTHON)",
  );
  return null;
}

/** A repository of its own, on the branch main, and what a release leaves of it. */
class Repository {
  constructor(readonly path: string) {}

  async git(...args: readonly string[]): Promise<string> {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    const command = ["git", ...identity, ...args];
    return (await requireRun(command, { cwd: this.path, environment: toolEnvironment() })).trimEnd();
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  async change(name: string, edit: (text: string) => string): Promise<void> {
    writeFileSync(join(this.path, name), edit(this.read(name)));
    await this.git("commit", "--quiet", "--all", "--message", `test: Change ${name}`);
  }

  /** Returns what must not change if a release is rejected or fails. */
  async state(): Promise<readonly string[]> {
    return [
      await this.git("rev-parse", "HEAD"),
      await this.git("rev-parse", "--abbrev-ref", "HEAD"),
      await this.git("status", "--porcelain"),
      await this.git("tag"),
      existsSync(join(this.path, "dist/release")) ? "artefacts" : "no artefacts",
    ];
  }

  release(...args: readonly string[]) {
    const command = ["npm", "run", "--silent", "release", "--", ...args];
    return runProgram(command, { cwd: this.path, environment: toolEnvironment() });
  }
}

/** Copies this repository, with a change to release, and a check that takes no minutes. */
async function copyRepository(path: string): Promise<Repository> {
  await requireRun(["git", "clone", "--quiet", "--no-tags", ROOT, path], {
    cwd: ROOT,
    environment: toolEnvironment(),
  });
  const repository = new Repository(path);
  await repository.git("checkout", "--quiet", "-B", "main");
  await repository.git("config", "user.name", "Test");
  await repository.git("config", "user.email", "test@example.com");
  symlinkSync(join(ROOT, "node_modules"), join(path, "node_modules"));
  await repository.change("CHANGELOG.md", (text) =>
    text.replace("## Unreleased\n", `## Unreleased\n\n${CHANGE}\n`),
  );
  await repository.change("package.json", (text) =>
    text.replace(/"check": ".*"/, '"check": "echo The project was checked."'),
  );
  return repository;
}

/** A repository with no more than what says where a release begins. */
async function createRepository(path: string): Promise<Repository> {
  mkdirSync(path);
  const repository = new Repository(path);
  writeFileSync(join(path, "package.json"), '{"version": "1.2.3"}\n');
  writeFileSync(
    join(path, "CHANGELOG.md"),
    "# Changelog\n\n## Unreleased\n\n- One.\n\n## 1.2.3\n\n- First.\n",
  );
  await repository.git("init", "--quiet", "--initial-branch=main");
  await repository.git("add", ".");
  await repository.git("commit", "--quiet", "--message", "test: Begin");
  return repository;
}

describe("where a release begins", () => {
  let place: Folder;
  let repository: Repository;
  beforeAll(async () => {
    place = createFolder();
    repository = await createRepository(join(place.path, "repository"));
  });
  afterAll(() => place.remove());

  const start = (version: string) => findStart(repository.path, version);
  const rejects = (version: string, sentence: string) => expect(start(version)).rejects.toThrow(sentence);

  test("a newer version with changes on a clean main is new", async () => {
    const head = await repository.git("rev-parse", "HEAD");
    for (const version of ["1.2.4", "1.3.0", "2.0.0", "1.3.0-rc.1"])
      expect(await start(version)).toEqual({ head, state: "new" });
  });

  test("a version that is none, the present one and older ones are rejected", async () => {
    await rejects("1.3", "1.3 is no version");
    await rejects("--force", "is no version");
    for (const version of ["1.2.3", "1.2.2", "0.9.0", "1.2.3-rc.1"])
      await rejects(version, `${version} is not newer than 1.2.3`);
  });

  test("changes that are not committed, another branch and a version without changes are rejected", async () => {
    writeFileSync(join(repository.path, "new-file"), "");
    await rejects("1.3.0", "?? new-file");
    await repository.git("clean", "--quiet", "--force");
    await repository.git("checkout", "--quiet", "-b", "other");
    await rejects("1.3.0", "from the branch main, and this is other");
    await repository.git("checkout", "--quiet", "main");
    await repository.change("CHANGELOG.md", (text) => text.replace("- One.\n", ""));
    await rejects("1.3.0", "Unreleased of CHANGELOG.md is empty");
    await repository.git("reset", "--quiet", "--hard", "HEAD~1");
  });

  test("a run that was ended between the commit and the tag is resumed, and what is tagged is only built", async () => {
    await repository.git("tag", "v1.2.2");
    await repository.change("package.json", () => '{"version": "1.3.0"}\n');
    await rejects("1.3.0", "1.3.0 is not newer than 1.3.0");
    await repository.git("commit", "--quiet", "--amend", "--message", "release: 1.3.0");
    const head = await repository.git("rev-parse", "HEAD");
    expect(await start("1.3.0")).toEqual({ head, state: "committed" });
    await repository.git("tag", "v1.3.0");
    expect(await start("1.3.0")).toEqual({ head, state: "tagged" });
    await repository.git("checkout", "--quiet", "--detach");
    expect(await start("1.3.0")).toEqual({ head, state: "tagged" });
    await repository.git("checkout", "--quiet", "main");
    await rejects("1.2.2", "v1.2.2 is a tag already, of another commit");
  });

  test("if the tag cannot be made, the commit is taken back", async () => {
    const copy = new Repository(join(place.path, "copy"));
    await requireRun(["git", "clone", "--quiet", repository.path, copy.path], {
      cwd: place.path,
      environment: toolEnvironment(),
    });
    await copy.change("package.json", () => '{"version": "1.4.0"}\n');
    const before = await repository.state();
    const release = {
      copy: copy.path,
      commit: await copy.git("rev-parse", "HEAD"),
      head: before[0] as string,
    };
    const adopting = adoptRelease(repository.path, { ...release, version: "1.3.0", notes: "- One." });
    await expect(adopting).rejects.toThrow("already exists");
    expect(await repository.state()).toEqual(before);
  });
});

test("the unreleased changes become those of the version, below an empty section for the next ones", () => {
  const text = "# Changelog\n\n## Unreleased\n\n- Two.\n\n## 1.0.0\n\n- One.\n";
  const released = releaseChanges(text, "1.1.0");
  expect(parseChangelog(released).map(({ version, notes }) => [version, notes])).toEqual([
    ["Unreleased", ""],
    ["1.1.0", "- Two."],
    ["1.0.0", "- One."],
  ]);
  expect(findChangelogProblems(released, "1.1.0")).toEqual([]);
});

test("a comparison of two files says from which byte on they differ", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(compareBytes(bytes("abc"), bytes("abc"))).toBe("");
  expect(compareBytes(bytes("abc"), bytes("abd"))).toBe("3 and 3 bytes, which differ from byte 3 on");
  expect(compareBytes(bytes("abc"), bytes("ab"))).toBe("3 and 2 bytes, which differ from byte 3 on");
});

describe.skipIf(!IS_DEPLOY_RUN)("a release", () => {
  let place: Folder;
  let repository: Repository;
  let printed: string;
  let artefacts: string;
  beforeAll(async () => {
    place = createFolder();
    repository = await copyRepository(join(place.path, "repository"));
  });
  afterAll(() => {
    killStarted();
    place.remove();
  });

  const artefact = (name: string) => join(artefacts, name);
  const run = (...command: readonly string[]) => ({
    in: (cwd: string) => requireRun(command, { cwd, environment: toolEnvironment() }),
  });
  /** Unpacks an archive into a new folder. */
  async function unpack(name: string): Promise<string> {
    const folder = join(place.path, `unpacked-${name}`);
    mkdirSync(folder);
    await run("tar", "-xzf", artefact(name)).in(folder);
    return folder;
  }

  test("is rejected for an older version, an empty changelog and a dirty tree, and changes nothing", async () => {
    const cases: readonly [version: string, sentence: string, dirty: () => void][] = [
      [packageJson.version, `is not newer than ${packageJson.version}`, () => {}],
      ["99", "99 is no version", () => {}],
      [VERSION, "The work tree has changes", () => writeFileSync(join(repository.path, "README.md"), "")],
    ];
    for (const [version, sentence, dirty] of cases) {
      dirty();
      const before = await repository.state();
      const { exitCode, stderr } = await repository.release(version);
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining(sentence)]);
      expect(await repository.state()).toEqual(before);
      await repository.git("checkout", "--quiet", ".");
    }
    const other = await repository.release(VERSION, "--targets=amiga");
    expect([other.exitCode, other.stderr]).toEqual([
      1,
      expect.stringContaining("amiga is not one of linux-x64"),
    ]);
  });

  test("a failure on the way leaves the repository as it was", async () => {
    await repository.change("package-lock.json", (text) => text.replace("{", ""));
    const before = await repository.state();
    const { exitCode, stderr } = await repository.release(VERSION, `--targets=${OWN_TARGET}`);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("SyntaxError")]);
    expect(await repository.state()).toEqual(before);
    await repository.git("reset", "--quiet", "--hard", "HEAD~1");
  });

  test(
    "checks the project, builds everything twice with the same bytes, commits and tags",
    async () => {
      const before = await repository.git("rev-parse", "HEAD");
      const options = [`--targets=${OWN_TARGET}`, "--package=@acme/gateway", "--author=Acme"];
      const { exitCode, stdout, stderr } = await repository.release(VERSION, ...options);
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
      printed = stdout;
      artefacts = join(repository.path, "dist/release", VERSION);
      expect(printed).toContain("The project was checked.\n");
      expect(printed).toContain("\npostgres: suite postgres\n");
      expect(readdirSync(artefacts).sort()).toEqual(
        [
          "LICENSES.txt",
          "RELEASE_NOTES.md",
          "SHA256SUMS",
          `gateway-${VERSION}-${OWN_TARGET}`,
          `gateway-${VERSION}.cdx.json`,
          `gateway-${VERSION}.tgz`,
          `gateway-image-${VERSION}.tar.gz`,
          `gateway-npm-${VERSION}.tgz`,
        ].sort(),
      );
      const compared = printed.split("\n").filter((line) => /^ {2}(equal|DIFFERS)/.test(line));
      expect(compared.map((line) => line.trim().split(/ +/))).toEqual(
        readdirSync(artefacts)
          .sort()
          .map((name) => ["equal", name]),
      );
      expect(await repository.git("log", "-1", "--format=%P %an %s")).toBe(
        `${before} Test release: ${VERSION}`,
      );
      expect(await repository.git("status", "--porcelain")).toBe("");
      expect(await repository.git("cat-file", "-t", `v${VERSION}`)).toBe("tag");
      expect(await repository.git("rev-parse", `v${VERSION}^{commit}`)).toBe(
        await repository.git("rev-parse", "HEAD"),
      );
      expect(await repository.git("tag", "--list", "--format=%(contents)", `v${VERSION}`)).toContain(CHANGE);
    },
    RELEASE_MS,
  );

  test("names the commands that push and publish, and what the npm package lacks for it", () => {
    expect(printed).toContain(`git push origin main v${VERSION}`);
    expect(printed).toContain(`npm publish ./dist/release/${VERSION}/gateway-npm-${VERSION}.tgz`);
    expect(printed).toContain("with these options sets it: --repository --homepage --bugs\n");
  });

  test("the version is in every file that shows it, and the changelog has a section for the next changes", async () => {
    for (const name of ["package.json", "package-lock.json"])
      expect(JSON.parse(repository.read(name))).toMatchObject({ name: "@acme/gateway", version: VERSION });
    expect(JSON.parse(repository.read("package-lock.json")).packages[""].version).toBe(VERSION);
    expect(JSON.parse(repository.read("package.json")).author).toBe("Acme");
    expect(parse(repository.read("deploy/helm/gateway/Chart.yaml"))).toMatchObject({
      version: VERSION,
      appVersion: VERSION,
    });
    const [unreleased, released] = parseChangelog(repository.read("CHANGELOG.md"));
    expect([unreleased?.version, unreleased?.notes, released?.version]).toEqual(["Unreleased", "", VERSION]);
    expect(released?.notes).toStartWith(CHANGE);
    expect(findChangelogProblems(repository.read("CHANGELOG.md"), VERSION)).toEqual([]);
    for (const { name } of AREAS)
      expect(repository.read(`docs/surface/released/${name}.txt`)).toBe(
        repository.read(`docs/surface/${name}.txt`),
      );
    // The chart, its rendered files, the manual and the changelog have tests that compare them with the version of the package.
    const tests = ["chart", "../docs/install", "../docs/release-notes"].map(
      (name) => `./test/deploy/${name}.test.ts`,
    );
    await run(process.execPath, "test", ...tests).in(repository.path);
  });

  test("sha256sum accepts the artefacts, and finds a byte that was changed", async () => {
    const check = ["sha256sum", "--check", "--quiet", "SHA256SUMS"];
    await run(...check).in(artefacts);
    const changed = join(place.path, "changed");
    cpSync(artefacts, changed, { recursive: true });
    const file = join(changed, `gateway-npm-${VERSION}.tgz`);
    const bytes = readFileSync(file);
    bytes[1_000] = (bytes[1_000] as number) ^ 1;
    writeFileSync(file, bytes);
    const { exitCode, stdout } = await runProgram(check, { cwd: changed, environment: toolEnvironment() });
    expect([exitCode, stdout]).toEqual([1, `gateway-npm-${VERSION}.tgz: FAILED\n`]);
  });

  test("the npm package starts with npx in an empty folder and answers, also under a name with a scope", async () => {
    const folder = join(place.path, "npx");
    mkdirSync(folder);
    configure(folder);
    cpSync(artefact(`gateway-npm-${VERSION}.tgz`), join(folder, "gateway.tgz"));
    const environment = { ...toolEnvironment(), npm_config_cache: join(place.path, "cache") };
    const gateway = await startInstalled(["npx", "--yes", "./gateway.tgz", "start"], {
      cwd: folder,
      environment,
    });
    const chat = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] };
    expect((await postChatTo({ url: gateway.url, key: gateway.inferenceKey }, chat)).status).toBe(200);
    await gateway.interrupt();
    expect(gateway.printed()).toContain('"message":"stopped"');
  });

  test("the executable serves from an empty folder, and has the version", async () => {
    const folder = createFolder();
    configure(folder.path);
    const executable = artefact(`gateway-${VERSION}-${OWN_TARGET}`);
    const { stdout } = await runProgram([executable, "--version"], { cwd: folder.path });
    expect(stdout).toBe(`${VERSION}\n`);
    await checkInstallation([executable, "start"], { cwd: folder.path });
    folder.remove();
  });

  test("the Dockerfile builds from the image context alone, with the bytes of the released executable", async () => {
    const context = await unpack(`gateway-image-${VERSION}.tar.gz`);
    const options = { folder: join(place.path, "stages"), context, environment: toolEnvironment() };
    const image = await performDockerfile(join(context, "deploy/Dockerfile"), options);
    const built = await Bun.file(join(image.root, "usr/local/bin/gateway")).bytes();
    const released = await Bun.file(artefact(`gateway-${VERSION}-${OWN_TARGET}`)).bytes();
    expect(compareBytes(built, released)).toBe("");
  });

  test("the packed chart has the files of the chart without those for its tests, and the version", async () => {
    const chart = join(await unpack(`gateway-${VERSION}.tgz`), "gateway");
    expect(parse(readFileSync(join(chart, "Chart.yaml"), "utf8"))).toMatchObject({ version: VERSION });
    const { stdout } = await runProgram(
      ["diff", "--recursive", "--brief", join(repository.path, "deploy/helm/gateway"), chart],
      { cwd: place.path, environment: toolEnvironment() },
    );
    expect(stdout).toBe(`Only in ${join(repository.path, "deploy/helm/gateway")}: ci\n`);
    if (HELM !== null) {
      const values = join(repository.path, "deploy/helm/gateway/ci/default-values.yaml");
      await run(HELM, "template", "gateway", artefact(`gateway-${VERSION}.tgz`), "--values", values).in(
        place.path,
      );
    }
  });

  test.skipIf(VALIDATE === null)(
    "the schemas of Kubernetes accept what the chart of the version renders",
    async () => {
      const documents = parseAllDocuments(repository.read("deploy/helm/rendered/default.yaml"));
      expect(documents.map(String).join("")).toContain(`image: gateway:${VERSION}\n`);
      const file = join(place.path, "default.yaml");
      writeFileSync(file, documents.map(String).join("---\n"));
      const options = { cwd: place.path, environment: toolEnvironment() };
      expect(await runChecker([VALIDATE as string, "--strict", file], options)).toEqual(NOTHING_FOUND);
    },
  );

  test("the SBOM names every run-time package of package-lock.json, and Bun as the platform", () => {
    const bom = JSON.parse(readFileSync(artefact(`gateway-${VERSION}.cdx.json`), "utf8"));
    const components = bom.components as readonly Readonly<Record<string, string>>[];
    const named = new Map(components.map(({ name, version }) => [name, version]));
    const packages = listRuntimePackages(repository.path);
    for (const name of ["bun", "yaml", "zod", "oauth4webapi"]) expect(packages.has(name)).toBe(true);
    for (const [name, version] of packages) expect([name, named.get(name)]).toEqual([name, version]);
    expect(components.find(({ name }) => name === "bun")).toMatchObject({
      type: "platform",
      version: packageJson.dependencies.bun,
      purl: `pkg:npm/bun@${packageJson.dependencies.bun}`,
    });
    expect(named.has("typescript")).toBe(false);
    expect(bom.metadata.component).toMatchObject({ name: "@acme/gateway", version: VERSION });
  });

  test.skipIf(PYTHON === null)("the schema of CycloneDX 1.6 accepts the SBOM", async () => {
    const command = [PYTHON as string, join(import.meta.dir, "validate_sbom.py")];
    const options = { cwd: place.path, environment: toolEnvironment() };
    const file = artefact(`gateway-${VERSION}.cdx.json`);
    expect(await runChecker([...command, file], options)).toEqual(NOTHING_FOUND);
    const broken = join(place.path, "broken.json");
    writeFileSync(broken, readFileSync(file, "utf8").replace('"type": "platform"', '"type": "runtime"'));
    expect(await runChecker([...command, broken], options)).not.toEqual(NOTHING_FOUND);
  });

  test("LICENSES.txt has the licence of every run-time package, and of Bun", () => {
    const text = readFileSync(artefact("LICENSES.txt"), "utf8");
    for (const [name, version] of listRuntimePackages(repository.path))
      expect(text).toContain(`\n${name} ${version}\n`);
    for (const holder of ["Colin McDonnell", "Filip Skokan", "Eemeli Aro", "TJ Holowaychuk"])
      expect(text).toContain(holder);
    expect(text).toContain("Bun is licensed under the MIT License");
  });

  test(
    "what is tagged is built again with the same bytes, from a detached HEAD, and nothing is committed",
    async () => {
      const sums = readFileSync(artefact("SHA256SUMS"), "utf8");
      await repository.git("checkout", "--quiet", "--detach", `v${VERSION}`);
      await repository.git("clean", "--quiet", "--force", "-d", "-x", "dist");
      const before = (await repository.state()).slice(0, 4);
      const { exitCode, stderr } = await repository.release(`v${VERSION}`, `--targets=${OWN_TARGET}`);
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
      expect((await repository.state()).slice(0, 4)).toEqual(before);
      expect(readFileSync(artefact("SHA256SUMS"), "utf8")).toBe(sums);
    },
    RELEASE_MS,
  );
});
