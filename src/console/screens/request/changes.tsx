import type { GenerationDetails } from "../../api/schema.ts";
import { Section } from "../../parts/layout/section.tsx";
import { text } from "../../text/text.ts";

const words = text.request;

/** What the gateway changed or repaired between the client and the provider. */
export function Changes({ generation }: { generation: GenerationDetails }) {
  const { api, attempts, requested_model, model, finish_reason, native_finish_reason, estimated } =
    generation;
  const formats = [...new Set(attempts.map(({ upstream_format }) => upstream_format).filter(Boolean))];
  const own = words.apiFormats[api as keyof typeof words.apiFormats];
  const others = formats.filter((format) => format !== own);
  const upstream = attempts.at(-1)?.upstream_model ?? null;
  const isTranslated = own !== undefined && others.length > 0;
  const repairs = Object.entries(generation.repairs ?? {}).filter(([, count]) => count > 0);
  const changes = repairs.length + generation.warnings.length;
  return (
    <Section
      id="changes"
      title={words.changes}
      summary={`${isTranslated ? words.translated : words.sameFormat}${changes === 0 ? "" : ` · ${words.changed(changes)}`}`}
      isClosed={!isTranslated && changes === 0}
    >
      <dl class="facts">
        <dt>{words.format}</dt>
        <dd>{isTranslated ? `${own} → ${others.join(", ")}` : (own ?? api)}</dd>
        {upstream === null ? null : (
          <>
            <dt>{words.modelName}</dt>
            <dd>
              {requested_model}
              {model !== null && model !== requested_model ? ` → ${model}` : ""} → {upstream}
            </dd>
          </>
        )}
        {finish_reason === null ? null : (
          <>
            <dt>{words.finishReason}</dt>
            <dd>
              {finish_reason}
              {native_finish_reason === null || native_finish_reason === finish_reason
                ? ""
                : ` (${words.native(native_finish_reason)})`}
            </dd>
          </>
        )}
        {estimated ? (
          <>
            <dt>{words.usage}</dt>
            <dd>{words.estimated}</dd>
          </>
        ) : null}
        {repairs.length === 0 ? null : (
          <>
            <dt>{words.repairs}</dt>
            <dd>
              <ul>
                {repairs.map(([name, count]) => (
                  <li key={name}>{words.repairKinds[name as keyof typeof words.repairKinds](count)}</li>
                ))}
              </ul>
            </dd>
          </>
        )}
        {generation.warnings.length === 0 ? null : (
          <>
            <dt>{words.warnings}</dt>
            <dd>
              <ul>
                {generation.warnings.map(({ field, message }) => (
                  <li key={`${field} ${message}`}>
                    <code>{field}</code>: {message ?? words.noWords}
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
    </Section>
  );
}
