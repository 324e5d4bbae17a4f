import { connect, type PeerCertificate } from "node:tls";
import { DAY_MS } from "../../base/time/time.ts";
import { choosePort } from "../processes/choose-port.ts";
import { fetchGateway } from "../several/fetch-gateway.ts";
import { type DoctorScene, type Finding, failure, ok, warning } from "./finding.ts";

/** The longest wait for an answer. Milliseconds. */
const ANSWER_MS = 5_000;
/** The maximum number of characters of a response that are read. */
const MAX_CHARS = 4_096;

/** Checks that a gateway answers at the configured address, or that the address is free. */
export async function checkAddress({ config: { server } }: DoctorScene): Promise<readonly Finding[]> {
  const { host, port } = server;
  if (port === 0) return [ok("any free port")];
  const url = localUrlOf(host, port);
  const running = await askReadiness(url);
  if (running !== null) return [running];
  try {
    choosePort(host, port);
    return [ok(`${host}:${port} is free; no gateway is running there`)];
  } catch (error) {
    const remedy = "Stop the program that uses it, or set server.port (GATEWAY_PORT) to another port.";
    return [failure(`${host}:${port} cannot be used: ${(error as Error).message}`, remedy)];
  }
}

function localUrlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns the readiness that a gateway at an address reports; null if no gateway answers there. */
async function askReadiness(url: string): Promise<Finding | null> {
  let text: string;
  try {
    const init: RequestInit = { signal: AbortSignal.timeout(ANSWER_MS), redirect: "manual" };
    const response = await fetchGateway(`${url}/readyz`, init, true);
    text = (await response.text()).slice(0, MAX_CHARS);
  } catch (error) {
    if ((error as Error).name !== "TimeoutError") return null;
    return failure(`a program at ${url} does not answer`, "Restart it if it is a gateway.");
  }
  const { status, problems = [] } = parseReadiness(text);
  const running = `the gateway at ${url} is ${status}`;
  if (status === "ready") return ok(running);
  if (typeof status === "string")
    return warning(`${running}: ${problems.join(" ")}`, "See docs/operations/failures.md for each problem.");
  return failure(`a program that is not a gateway answers at ${url}`, "Stop it, or set another server.port.");
}

interface ReadinessAnswer {
  readonly status?: unknown;
  readonly problems?: readonly string[];
}

function parseReadiness(text: string): ReadinessAnswer {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** A certificate that ends sooner has not been renewed. Days. */
const MIN_DAYS = 14;

/** Checks the certificate of the console's address for browsers. */
export async function checkCertificate({ config, clock }: DoctorScene): Promise<readonly Finding[]> {
  const url = config.console.url === undefined ? null : new URL(config.console.url);
  if (url?.protocol !== "https:") return [];
  const remedy = "Check the reverse proxy and its certificate.";
  let shown: ShownCertificate;
  try {
    shown = await readCertificate(url);
  } catch (error) {
    return [warning(`${url.origin} cannot be reached from here: ${(error as Error).message}`, remedy)];
  }
  const { problem, validTo } = shown;
  if (problem !== null) return [failure(`the certificate of ${url.origin} is not valid: ${problem}`, remedy)];
  const days = Math.floor((validTo - clock.now()) / DAY_MS);
  const text = `the certificate of ${url.origin} ends in ${days} days`;
  return [days < MIN_DAYS ? warning(text, "Renew it.") : ok(text)];
}

interface ShownCertificate {
  /** Why clients do not accept it; null if they do. */
  readonly problem: string | null;
  /** Milliseconds since the epoch. */
  readonly validTo: number;
}

function readCertificate({ hostname, port }: URL): Promise<ShownCertificate> {
  return new Promise((resolve, reject) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const options = { host, port: Number(port || 443), rejectUnauthorized: false };
    const socket = connect({ ...options, servername: host, timeout: ANSWER_MS }, () => {
      const certificate: PeerCertificate = socket.getPeerCertificate();
      const error = socket.authorizationError as Error | string | null;
      socket.destroy();
      const problem = socket.authorized || error === null ? null : String(error);
      resolve({ problem, validTo: Date.parse(certificate.valid_to) });
    });
    socket.on("error", reject);
    socket.on("timeout", () => {
      socket.destroy();
      reject(new Error(`no answer within ${ANSWER_MS / 1_000} s`));
    });
  });
}
