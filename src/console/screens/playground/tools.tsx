import { useState } from "preact/hooks";
import type { Tool } from "../../conversation/conversation.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field, TextArea } from "../../parts/controls/field.tsx";
import { Dialog, DialogButtons } from "../../parts/layout/dialog.tsx";
import { text } from "../../text/text.ts";
import { checkTool, draftTool, type ToolDraft, type ToolProblem } from "./check-tool.ts";
import { changeSettings, settings } from "./state.ts";

const words = text.playground;
const NEW_TOOL: ToolDraft = draftTool({
  name: "get_weather",
  description: "Returns the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
});

/** The tools of the conversation. */
export function ToolList() {
  const { tools } = settings.value;
  /** The index of the tool that is edited: that after the last for a new one. */
  const [edited, setEdited] = useState<number | null>(null);
  const save = (tool: Tool, at: number) => {
    changeSettings({ tools: at < tools.length ? tools.with(at, tool) : [...tools, tool] });
    setEdited(null);
  };
  return (
    <>
      {tools.length === 0 ? <p class="quiet">{words.toolsNone}</p> : null}
      <ul class="tool-list">
        {tools.map((tool, i) => (
          <ToolLine key={tool.name} tool={tool} onEdit={() => setEdited(i)} />
        ))}
      </ul>
      <div>
        <Button size="small" icon="plus" onClick={() => setEdited(tools.length)}>
          {words.addTool}
        </Button>
      </div>
      {edited === null ? null : (
        <ToolDialog
          tool={tools[edited] ?? null}
          others={tools.filter((_, i) => i !== edited).map(({ name }) => name)}
          onSave={(tool) => save(tool, edited)}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

function ToolLine({ tool, onEdit }: { tool: Tool; onEdit: () => void }) {
  const remove = () =>
    changeSettings({ tools: settings.value.tools.filter(({ name }) => name !== tool.name) });
  return (
    <li class="row">
      <code class="grow cut" title={tool.description}>
        {tool.name}
      </code>
      <Button size="small" onClick={onEdit}>
        {words.editTool}
      </Button>
      <Button size="small" kind="bare" icon="close" label={words.removeTool(tool.name)} onClick={remove} />
    </li>
  );
}

function ToolDialog(props: {
  tool: Tool | null;
  others: readonly string[];
  onSave: (tool: Tool) => void;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState(() => (props.tool === null ? NEW_TOOL : draftTool(props.tool)));
  const [problem, setProblem] = useState<ToolProblem | null>(null);
  const change = (changes: Partial<ToolDraft>) => {
    setProblem(null);
    setDraft({ ...draft, ...changes });
  };
  const submit = () => {
    const checked = checkTool(draft, props.others);
    if ("tool" in checked) props.onSave(checked.tool);
    else setProblem(checked.problem);
  };
  const problemOf = (field: ToolProblem["field"]) => (problem?.field === field ? problem.message : null);
  return (
    <Dialog
      title={words.editToolTitle}
      isWide
      onClose={props.onClose}
      onSubmit={submit}
      foot={<DialogButtons submit={words.saveTool} onClose={props.onClose} />}
    >
      <Field
        label={words.toolName}
        value={draft.name}
        error={problemOf("name")}
        onInput={(name) => change({ name })}
        isRequired
      />
      <Field
        label={words.toolDescription}
        value={draft.description}
        onInput={(description) => change({ description })}
      />
      <TextArea
        label={words.toolSchema}
        rows={12}
        value={draft.schema}
        error={problemOf("schema")}
        onInput={(schema) => change({ schema })}
      />
    </Dialog>
  );
}
