import { Page } from "../../parts/layout/page.tsx";
import type { ScreenProps } from "../../state/screen.ts";
import { text } from "../../text/text.ts";
import { KeyList } from "./key-list.tsx";
import { KeyPage } from "./key-page.tsx";

/** The keys that the signed-in person may see, or one of them. */
export default function Keys({ params }: ScreenProps) {
  const id = params["id"];
  if (id !== undefined) return <KeyPage key={id} id={id} />;
  return (
    <Page title={text.keys.title} fills>
      <KeyList of={{ account: null }} />
    </Page>
  );
}
