import { call } from "../../api/client.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Popover } from "../../parts/layout/popover.tsx";
import { showFailure } from "../../parts/layout/toast.tsx";
import { saveFile } from "../../parts/values/save-file.ts";
import { text } from "../../text/text.ts";

const FORMATS = {
  yaml: { name: "gateway.yaml", type: "application/yaml" },
  json: { name: "gateway.json", type: "application/json" },
} as const;
type Format = keyof typeof FORMATS;

/** A menu that saves the whole configuration as a file, with secrets as references. */
export function ExportMenu() {
  return (
    <Popover label={text.settings.export.about} icon="download" text={text.settings.export.action}>
      <div class="menu-items">
        {(["yaml", "json"] as const).map((format) => (
          <Button key={format} kind="bare" onClick={() => void save(format)}>
            {text.settings.export.formats[format]}
          </Button>
        ))}
      </div>
    </Popover>
  );
}

async function save(format: Format): Promise<void> {
  try {
    const { document } = (await call("GET /api/admin/config/export", {})).data;
    const { name, type } = FORMATS[format];
    saveFile(name, type, await print(document, format));
  } catch (error) {
    showFailure(error);
  }
}

async function print(document: Readonly<Record<string, unknown>>, format: Format): Promise<string> {
  if (format === "json") return `${JSON.stringify(document, null, 2)}\n`;
  return (await import("./yaml.ts")).printYaml(document);
}
