import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import { ANTHROPIC_MODEL, type Contestant, chatDoor, MODEL, TRANSLATED } from "./contestant.ts";
import { find, INSTALLED, runStep, SOURCES, startProgram } from "./programs.ts";

const INSTALL_MS = 600_000;
const folder = join(INSTALLED, "litellm");
const program = join(folder, "bin", "litellm");
const requirements = join(SOURCES, "litellm", "requirements.txt");

/** LiteLLM's proxy: one worker, no database, hence no keys and no records of spending. */
export const litellm: Contestant = {
  name: "litellm",
  label: "LiteLLM 1.93.0",
  async prepare() {
    if (existsSync(join(folder, "complete"))) return;
    const python = find(
      "python3",
      "install Python 3.10 or later with venv (Debian: apt-get install python3-venv)",
    );
    await runStep([python, "-m", "venv", folder], INSTALLED, INSTALL_MS);
    const pip = [join(folder, "bin", "pip"), "install", "--no-deps", "--only-binary=:all:"];
    await runStep([...pip, "--requirement", requirements], INSTALLED, INSTALL_MS);
    writeFileSync(join(folder, "complete"), "");
  },
  async start(upstreamPort) {
    const port = await findFreePort();
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `config-${port}.yaml`);
    writeFileSync(file, configure(upstreamPort));
    const command = [program, "--config", file, "--host", "127.0.0.1", "--port", String(port)];
    const env = {
      // Prices from the package, not from the network.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      LITELLM_LOG: "ERROR",
      LITELLM_TELEMETRY: "False",
    };
    const readyPath = "/health/liveliness";
    const running = await startProgram({
      name: "litellm",
      command: [...command, "--num_workers", "1"],
      env,
      port,
      readyPath,
    });
    const anthropic = chatDoor(port, { model: ANTHROPIC_MODEL, vendor: "messages" });
    return { ...running, lanes: new Map([[TRANSLATED, anthropic]]) };
  },
};

function configure(upstreamPort: number): string {
  const host = `http://127.0.0.1:${upstreamPort}`;
  return `model_list:
  - model_name: ${MODEL}
    litellm_params: {model: "openai/${MODEL}", api_base: "${host}/v1", api_key: bench}
  - model_name: ${ANTHROPIC_MODEL}
    litellm_params: {model: "anthropic/${ANTHROPIC_MODEL}", api_base: "${host}", api_key: bench}
general_settings: {disable_spend_logs: true}
litellm_settings: {num_retries: 0, request_timeout: 60, drop_params: true}
`;
}
