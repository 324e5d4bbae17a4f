import { dirname, resolve } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { readConfigFile } from "../config/load-config.ts";
import { parseYaml, type YamlSource } from "../config/yaml-source.ts";

const MAX_INCLUDES = 50;

/**
 * Reads a file of another gateway's configuration, YAML or JSON.
 * @throws ConfigError
 */
export function readImportFile(file: string): YamlSource {
  return parseYaml(readConfigFile({}, file).source, file);
}

/**
 * Reads a LiteLLM configuration and the files that its `include` names.
 * @throws ConfigError
 */
export function readWithIncludes(file: string): readonly YamlSource[] {
  const first = readImportFile(file);
  const { include } = first.value;
  const names = (Array.isArray(include) ? (include as unknown[]) : []).filter(
    (name) => typeof name === "string",
  );
  if (names.length > MAX_INCLUDES) throw new ConfigError(`${file} includes more than ${MAX_INCLUDES} files`);
  return [first, ...names.map((name) => readImportFile(resolve(dirname(file), name)))];
}
