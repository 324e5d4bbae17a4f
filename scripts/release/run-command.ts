/** What to run a program with. */
interface CommandOptions {
  readonly cwd: string;
  /** Variables besides those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Text for the standard input. */
  readonly input?: string;
}

/** Variables that npm and git set for the programs that they run. In the copies, npm and git must not follow them. */
const INHERITED =
  /^(npm_(package|lifecycle)_.*|npm_command|npm_config_local_prefix|INIT_CWD|GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY))$/;

/** Returns the environment of this process without what npm and git have set for it, with one language and one time zone. */
function cleanEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !INHERITED.test(name));
  return { ...(Object.fromEntries(own) as Record<string, string>), LC_ALL: "C", TZ: "UTC" };
}

/**
 * Runs a program to its end, and returns what it wrote to the standard output.
 * @throws Error with the end of its output if it fails.
 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<Uint8Array> {
  const child = Bun.spawn([...command], {
    cwd: options.cwd,
    env: { ...cleanEnvironment(), ...options.environment },
    stdin: new Blob([options.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.bytes(), child.stderr.text()]);
  const status = await child.exited;
  if (status === 0) return stdout;
  const said = `${new TextDecoder().decode(stdout)}${stderr}`.trim().slice(-5_000);
  throw new Error(`${command.join(" ")} ended with status ${status}:\n${said}`);
}

/** Runs a program like `runCommand`, and returns its output as a text without line breaks at its end. */
export async function readCommand(command: readonly string[], options: CommandOptions): Promise<string> {
  return new TextDecoder().decode(await runCommand(command, options)).trimEnd();
}

/**
 * Runs a program whose output is for the person at the terminal.
 * @throws Error if it fails.
 */
export async function showCommand(command: readonly string[], options: CommandOptions): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: options.cwd,
    env: { ...cleanEnvironment(), ...options.environment },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  const status = await child.exited;
  if (status !== 0) throw new Error(`${command.join(" ")} ended with status ${status}`);
}
