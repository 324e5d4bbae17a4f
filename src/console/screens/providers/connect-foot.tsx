import { Button } from "../../parts/controls/button.tsx";
import { text } from "../../text/text.ts";
import { hasFailed, type Trial } from "./trials.tsx";

const words = text.providers.connect;

/** The buttons of a form whose settings are tested before they are saved. After a failed test, saving is a decision. */
export function ConnectFoot(props: {
  trial: Trial | null;
  isSaving: boolean;
  onTest: () => void;
  onBack?: () => void;
  backText?: string;
}) {
  const isTesting = props.trial?.kind === "running";
  return (
    <>
      {props.onBack === undefined ? null : (
        <Button kind="bare" onClick={props.onBack}>
          {props.backText ?? words.back}
        </Button>
      )}
      <span class="grow" />
      <Button isBusy={isTesting} onClick={props.onTest}>
        {words.test}
      </Button>
      <Button
        kind={hasFailed(props.trial) ? "danger" : "primary"}
        isSubmit
        isBusy={props.isSaving || isTesting}
      >
        {hasFailed(props.trial) ? words.saveAnyway : words.save}
      </Button>
    </>
  );
}
