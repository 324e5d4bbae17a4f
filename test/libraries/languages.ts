import type { LibraryCase } from "./cases.ts";

/** A program in `programs`, its libraries, and how it is built and run in a copy of its folder. */
export interface LibraryProgram {
  readonly folder: string;
  /** The libraries that parse the answers. */
  readonly libraries: string;
  /** Commands that the machine must have. */
  readonly needs: readonly string[];
  /** Where to get these. */
  readonly advice: string;
  /** Gets the libraries from the registry of their language, one command after the other. */
  readonly install: readonly (readonly string[])[];
  readonly compile?: readonly string[];
  readonly run: readonly string[];
  /** The program is given the answers instead of sending the requests. */
  readonly parsesOnly?: true;
  handles(one: LibraryCase): boolean;
}

const OPENAI = ["chat", "responses", "embeddings", "models"];
const BOTH = [...OPENAI, "messages"];
const OPENROUTER = [...OPENAI, "count", "model", "endpoints", "providers", "key", "credits", "generation"];

const isOf =
  (apis: readonly string[]) =>
  ({ api }: LibraryCase) =>
    apis.includes(api);

/** Whether a stream ends with a chunk of its own for usage. An error comes before any chunk. */
function hasUsageChunk({ body, expected }: LibraryCase): boolean {
  return body["stream_options"] !== undefined || expected["status"] !== undefined;
}

const NPM = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "."];

const PIP = [
  ["python3", "-m", "venv", "venv"],
  ["venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt"],
];

/** All programs. Versions are in the manifest of each. */
export const PROGRAMS: readonly LibraryProgram[] = [
  {
    folder: "javascript",
    libraries: "openai and @anthropic-ai/sdk (JavaScript)",
    needs: ["node", "npm"],
    advice: "Install Node.js 20 or newer.",
    install: [NPM],
    run: ["node", "main.mjs"],
    handles: isOf(BOTH),
  },
  {
    folder: "openrouter",
    libraries: "@openrouter/sdk (JavaScript)",
    needs: ["node", "npm"],
    advice: "Install Node.js 20 or newer.",
    install: [NPM],
    run: ["node", "main.mjs"],
    handles: isOf(OPENROUTER),
  },
  {
    folder: "python",
    libraries: "openai and anthropic (Python)",
    needs: ["python3"],
    advice: "Install Python 3.9 or newer with venv.",
    install: PIP,
    run: ["venv/bin/python3", "main.py"],
    handles: isOf(BOTH),
  },
  {
    folder: "agents-javascript",
    libraries: "@openai/agents (JavaScript)",
    needs: ["node", "npm"],
    advice: "Install Node.js 20 or newer.",
    install: [NPM],
    run: ["node", "main.mjs"],
    handles: isOf(["agents"]),
  },
  {
    folder: "agents-python",
    libraries: "openai-agents (Python)",
    needs: ["python3"],
    advice: "Install Python 3.10 or newer with venv.",
    install: PIP,
    run: ["venv/bin/python3", "main.py"],
    handles: isOf(["agents"]),
  },
  {
    folder: "go",
    libraries: "openai-go and anthropic-sdk-go",
    needs: ["go"],
    advice: "Install Go 1.23 or newer.",
    install: [["go", "mod", "download"]],
    compile: ["go", "build", "-mod=mod", "-o", "main", "."],
    run: ["./main"],
    handles: isOf(BOTH),
  },
  {
    folder: "java",
    libraries: "openai-java and anthropic-java, with validation",
    needs: ["java", "javac", "mvn"],
    advice: "Install a JDK 17 or newer and Maven.",
    install: [["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]],
    compile: ["javac", "-cp", "lib/*", "-d", "classes", "src/main/java/Main.java"],
    run: ["java", "-cp", "classes:lib/*", "Main"],
    // Its accumulator takes a chunk with usage for the one after the finish, as OpenAI sends it to clients that ask for usage. Others get
    // it with the finish.
    handles: (one) => isOf(BOTH)(one) && (one.api !== "chat" || !one.stream || hasUsageChunk(one)),
  },
  {
    folder: "rust",
    libraries: "async-openai (Rust)",
    needs: ["cargo"],
    advice: "Install Rust 1.75 or newer.",
    install: [["cargo", "fetch", "-q"]],
    compile: ["cargo", "build", "-q"],
    run: ["target/debug/libraries"],
    parsesOnly: true,
    // It requires a text as the code of an error, where the specification has a number.
    handles: (one) => isOf(OPENAI)(one) && one.expected["status"] === undefined,
  },
];
