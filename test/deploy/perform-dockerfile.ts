import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Instruction, parseDockerfile, parsePairs } from "./parse-dockerfile.ts";
import { requireRun } from "./run-program.ts";

/** What a build has made, as far as it concerns a start. */
export interface BuiltImage {
  /** The folder that stands for the root of the image. */
  readonly root: string;
  readonly user: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly stopSignal: string;
}

/** How to perform a Dockerfile. */
export interface BuildOptions {
  /** Holds a folder for each stage. */
  readonly folder: string;
  /** The files of the context, which are those that `.dockerignore` lets through. */
  readonly context: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Performs the steps of a Dockerfile without a container engine: each stage is a folder, `RUN` runs its line there, and `COPY` copies
 * with its owner and mode. The base images are replaced by the system. Absolute paths are those of the stage except in `RUN`, whose
 * lines therefore use relative ones.
 * @throws Error for an instruction that it cannot perform.
 */
export async function performDockerfile(file: string, options: BuildOptions): Promise<BuiltImage> {
  const build = new Build(options);
  for (const instruction of parseDockerfile(readFileSync(file, "utf8"))) await build.perform(instruction);
  return build.result();
}

class Build {
  private readonly stages = new Map<string, string>();
  private root = "";
  private user = "0:0";
  private workdir = "/";
  private environment: Readonly<Record<string, string>> = {};
  private entrypoint: readonly string[] = [];
  private command: readonly string[] = [];
  private stopSignal = "SIGTERM";

  constructor(private readonly options: BuildOptions) {}

  async perform({ name, options, text }: Instruction): Promise<void> {
    switch (name) {
      case "FROM":
        return this.begin(text);
      case "WORKDIR":
        this.workdir = resolve(this.workdir, text);
        mkdirSync(this.inStage(this.workdir), { recursive: true });
        return;
      case "COPY":
        return this.copy(text.split(" "), options);
      case "RUN":
        await requireRun(["sh", "-c", text], {
          cwd: this.inStage(this.workdir),
          environment: { ...this.options.environment, ...this.environment },
        });
        return;
      case "ENV":
        this.environment = { ...this.environment, ...parsePairs(text) };
        return;
      case "USER":
        this.user = text;
        return;
      case "ENTRYPOINT":
        this.entrypoint = JSON.parse(text);
        return;
      case "CMD":
        this.command = JSON.parse(text);
        return;
      case "STOPSIGNAL":
        this.stopSignal = text;
        return;
      case "ARG":
      case "LABEL":
      case "VOLUME":
      case "EXPOSE":
      case "HEALTHCHECK":
        return;
      default:
        throw new Error(`${name} cannot be performed without a container engine`);
    }
  }

  result(): BuiltImage {
    const { root, user, workdir, environment, stopSignal } = this;
    return { root, user, workdir, environment, stopSignal, command: [...this.entrypoint, ...this.command] };
  }

  private begin(text: string): void {
    const name = / AS (\w+)$/.exec(text)?.[1] ?? `stage${this.stages.size}`;
    this.root = join(this.options.folder, name);
    mkdirSync(this.root, { recursive: true });
    this.stages.set(name, this.root);
    this.user = "0:0";
    this.workdir = "/";
    this.environment = {};
  }

  private copy(words: readonly string[], { from, chown, chmod }: Readonly<Record<string, string>>): void {
    const target = words.at(-1) ?? "";
    const source = from === undefined ? this.options.context : this.stages.get(from);
    if (source === undefined) throw new Error(`there is no stage ${from}`);
    for (const word of words.slice(0, -1)) {
      const path = join(source, word);
      if (!existsSync(path)) throw new Error(`COPY ${word}: there is no such file`);
      const asFolder = statSync(path).isDirectory() || !target.endsWith("/");
      const to = this.inStage(resolve(this.workdir, asFolder ? target : join(target, word)));
      mkdirSync(dirname(to), { recursive: true });
      cpSync(path, to, { recursive: true });
      if (chmod !== undefined) chmodSync(to, Number.parseInt(chmod, 8));
      if (chown !== undefined && process.getuid?.() === 0) chownSync(to, ...parseUser(chown));
    }
  }

  private inStage(path: string): string {
    return join(this.root, path);
  }
}

/** Parses `uid:gid`. */
export function parseUser(user: string): [uid: number, gid: number] {
  const [uid, gid = uid] = user.split(":").map(Number);
  if (!Number.isInteger(uid) || !Number.isInteger(gid)) throw new Error(`${user} is not uid:gid`);
  return [uid as number, gid as number];
}
