import { existsSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";
import packageJson from "../../../package.json" with { type: "json" };
import { type DoctorScene, type Finding, failure, ok, warning } from "./finding.ts";

/** Compares the version of the runtime with the one that the gateway is tested with. */
export function checkRuntime(): readonly Finding[] {
  const tested = packageJson.dependencies.bun;
  const text = `gateway ${packageJson.version} on Bun ${Bun.version}`;
  if (Bun.version === tested) return [ok(text)];
  const remedy = `It is tested with Bun ${tested}; install that, or start bin/gateway, which has it.`;
  return Bun.semver.order(Bun.version, tested) < 0 ? [failure(text, remedy)] : [warning(text, remedy)];
}

/** Each connection of a client or to a provider takes one. */
const USUAL_DESCRIPTORS = 4_096;

/** Checks how many files and connections the process may have open. */
export function checkDescriptors(): readonly Finding[] {
  const limits = readText("/proc/self/limits");
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits ?? "") ?? [];
  if (soft === undefined) return [ok("the limit cannot be read on this system")];
  const text = `${soft} may be open`;
  const remedy =
    "Raise the limit: ulimit -n 65536, LimitNOFILE=65536 of systemd, or --ulimit nofile of Docker.";
  return Number(soft) < USUAL_DESCRIPTORS ? [warning(text, remedy)] : [ok(text)];
}

/** The memory that a process needs in addition to what the configuration bounds. Bytes. */
const BASE_BYTES = 400_000_000;

/** Compares the memory of the machine or container with what the configuration allows a gateway to use. */
export function checkMemory({ config: { limits, responses } }: DoctorScene): readonly Finding[] {
  const available = Math.min(totalmem(), readContainerLimit() ?? Number.POSITIVE_INFINITY);
  const bounded =
    limits.total_body_bytes +
    limits.total_unread_bytes +
    responses.websocket_bytes +
    limits.turn_memory_bytes +
    limits.answer_memory_bytes;
  const text = `${megabytes(available)} MB for a process that may need ${megabytes(bounded + BASE_BYTES)} MB`;
  if (available >= bounded + BASE_BYTES) return [ok(text)];
  return [
    warning(text, "Lower limits.total_body_bytes and limits.total_unread_bytes, or give it more memory."),
  ];
}

function readContainerLimit(): number | null {
  const text =
    readText("/sys/fs/cgroup/memory.max") ?? readText("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  const bytes = Number(text?.trim());
  return text !== null && Number.isFinite(bytes) ? bytes : null;
}

function readText(file: string): string | null {
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}
