import { useState } from "preact/hooks";
import { type ApiError, call } from "../../api/client.ts";
import type { ConfigWritten, Setting } from "../../api/schema.ts";
import { formatPath, storedAt } from "../../parts/config/read-config.ts";
import { type LoadedConfig, useConfig } from "../../parts/config/use-config.ts";
import { showToast } from "../../parts/layout/toast.tsx";
import type { Schema } from "../../parts/schema/schema.ts";
import { useForm } from "../../state/form.ts";
import { toApiError, useLoad } from "../../state/load.ts";
import { text } from "../../text/text.ts";
import {
  changeSetting,
  type FieldProblem,
  hasSecret,
  keyOf,
  readProblems,
  type SettingsDraft,
  toEdits,
} from "./setting-draft.ts";
import { type FormSetting, listFormSettings } from "./setting-tree.ts";

/** What a setting has now. */
export interface SettingState {
  /** The value that the form shows; undefined if it is not set. */
  readonly value: unknown;
  readonly stored: unknown;
  readonly isChanged: boolean;
  /** The setting in force, with its source; null for one that the list does not have. */
  readonly inForce: Setting | null;
}

/** The settings, their values, and what is typed and not stored yet. */
export function useSettings() {
  const config = useConfig();
  const schema = useLoad("config schema", async (signal) => {
    return (await call("GET /api/admin/config/schema", { signal })).data as Schema;
  });
  const [checked, setChecked] = useState<ApiError | null>(null);
  const form = useForm<SettingsDraft, ConfigWritten>({
    draft: "settings",
    initial: { changes: {} },
    fields: [],
    send: ({ changes }) => config.save(toEdits(changes)),
    onSent({ revision }) {
      setChecked(null);
      showToast(text.settings.savedRevision(revision));
    },
  });
  const { changes } = form.values;
  const settings = schema.data === null ? null : listFormSettings(schema.data);
  const error = form.error ?? checked;
  return {
    config,
    form,
    settings,
    edits: toEdits(changes),
    loadError: config.error ?? schema.error,
    /** The error that is about no field. */
    error,
    problems: readProblems(error) as readonly FieldProblem[],
    hasSecret: settings !== null && hasSecret(changes, settings),
    stateOf: (setting: FormSetting, data: LoadedConfig) => stateOf(setting, data, changes),
    change(path: readonly string[], value: unknown) {
      setChecked(null);
      const stored = config.data === null ? undefined : storedAt(config.data, path);
      form.set({ changes: changeSetting(changes, path, value, stored) });
    },
    /** Returns how the settings in force would change; null if the change is rejected, which the form then shows. */
    async preview(): Promise<ConfigWritten | null> {
      try {
        const written = await config.preview(toEdits(changes));
        setChecked(null);
        return written;
      } catch (failure) {
        setChecked(toApiError(failure));
        return null;
      }
    },
    discard() {
      setChecked(null);
      form.reset();
    },
    reload() {
      config.reload();
      schema.reload();
    },
  };
}

export type SettingsForm = ReturnType<typeof useSettings>;

function stateOf({ path }: FormSetting, data: LoadedConfig, changes: SettingsDraft["changes"]): SettingState {
  const stored = storedAt(data, path);
  const change = changes[keyOf(path)];
  const name = formatPath(path);
  const inForce = data.settings.find((setting) => setting.name === name) ?? null;
  return {
    value: change === undefined ? stored : change?.value,
    stored,
    isChanged: change !== undefined,
    inForce,
  };
}
