import { eventually } from "../support/eventually.ts";
import type { GatewayProcess } from "../support/gateway/gateway-process.ts";
import type { AgentCase } from "./cases.ts";
import type { VendorRequest } from "./vendors/simulated-vendor.ts";

/** A generation as `GET generation` returns it. */
interface Generation {
  readonly model: string;
  readonly provider_name: string;
  readonly outcome: string;
  readonly tokens_prompt: number;
  readonly tokens_completion: number;
  readonly estimated: boolean;
}

/**
 * Compares the gateway's generation records since `from` (a position in its output) with the vendor's counts.
 */
export async function checkGenerations(
  gateway: GatewayProcess,
  from: number,
  { model, provider }: AgentCase,
  requests: readonly VendorRequest[],
): Promise<string[]> {
  const usages = requests.flatMap(({ usage }) => usage ?? []);
  if (usages.length === 0) return [];
  const ids = await eventually("a log line for each generation", () => {
    const found = findGenerationIds(gateway.printed().slice(from));
    return found.length >= usages.length && found;
  }).catch(() => findGenerationIds(gateway.printed().slice(from)));
  const generations = await Promise.all(ids.map((id) => fetchGeneration(gateway, id)));
  const problems = generations.flatMap((generation) => findGenerationProblems(generation, model, provider));
  const counted = usages.map(({ input, output }) => `${input}+${output}`).toSorted();
  const recorded = generations.map((one) => `${one.tokens_prompt}+${one.tokens_completion}`).toSorted();
  if (counted.join(" ") !== recorded.join(" ")) {
    problems.push(
      `the vendor counted ${counted.join(" ")} tokens, the gateway recorded ${recorded.join(" ")}`,
    );
  }
  return [...new Set(problems)];
}

function findGenerationIds(log: string): string[] {
  return [...log.matchAll(/"generation_id":"(gen_\w+)"/g)].map(([, id]) => id as string);
}

async function fetchGeneration({ url, key }: GatewayProcess, id: string): Promise<Generation> {
  const response = await fetch(`${url}/api/gateway/generation?id=${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`GET generation?id=${id}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { data: Generation }).data;
}

function findGenerationProblems(generation: Generation, model: string, provider: string): string[] {
  const { outcome, estimated } = generation;
  const problems: string[] = [];
  if (outcome !== "completed") problems.push(`a generation is recorded as ${outcome}`);
  if (generation.model !== model) problems.push(`a generation is recorded for ${generation.model}`);
  if (generation.provider_name !== provider) {
    problems.push(`a generation is recorded for the provider ${generation.provider_name}`);
  }
  if (estimated) problems.push("a generation is recorded with an estimate of its tokens");
  return problems;
}
