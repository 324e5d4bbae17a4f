import { useCallback } from "preact/hooks";
import { ApiError, call } from "../../api/client.ts";
import type { ConfigWritten } from "../../api/schema.ts";
import { type Loaded, useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import type { ConfigEdit, LoadedConfig } from "./config-types.ts";

export type { ConfigEdit, ConfigPath, LoadedConfig } from "./config-types.ts";

/** The configuration, and the functions that change it. */
export interface Config extends Loaded<LoadedConfig> {
  /**
   * Stores edits together, with secrets by their ids, and loads the configuration again.
   * @throws ApiError Someone else may have changed the configuration: it is loaded again then, so that the person can check it first.
   */
  save(edits: readonly ConfigEdit[], secrets?: Readonly<Record<string, string>>): Promise<ConfigWritten>;
  /** Returns how edits would change the settings in force, without storing them. @throws ApiError */
  preview(edits: readonly ConfigEdit[], secrets?: Readonly<Record<string, string>>): Promise<ConfigWritten>;
}

/** Loads the configuration. Only the operator may read it. */
export function useConfig(): Config {
  const loaded = useLoad("config", loadConfig);
  const { data, reload } = loaded;
  const revision = data?.stored.revision;
  const save = useCallback(
    async (edits: readonly ConfigEdit[], secrets: Readonly<Record<string, string>> = {}) => {
      try {
        const body = { revision, edits, secrets };
        const written = (await call("PATCH /api/admin/config", { body })).data;
        reload();
        return written;
      } catch (error) {
        throw isStale(error) ? explainStale(error, reload) : error;
      }
    },
    [revision, reload],
  );
  return { ...loaded, save, preview: previewConfig };
}

async function loadConfig(signal: AbortSignal): Promise<LoadedConfig> {
  const [stored, settings] = await Promise.all([
    call("GET /api/admin/config", { signal }),
    call("GET /api/admin/settings", { signal }),
  ]);
  return { stored: stored.data, settings: settings.data };
}

async function previewConfig(
  edits: readonly ConfigEdit[],
  secrets: Readonly<Record<string, string>> = {},
): Promise<ConfigWritten> {
  const query = { dry_run: "true" };
  return (await call("PATCH /api/admin/config", { query, body: { edits, secrets } })).data;
}

function isStale(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && "latest" in error.metadata;
}

function explainStale(error: ApiError, reload: () => void): ApiError {
  reload();
  return new ApiError(text.config.changedByOthers, error.status, error.type, null, error.requestId);
}
