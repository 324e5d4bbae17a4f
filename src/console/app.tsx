import { Component, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Invite } from "./invite.tsx";
import { Button } from "./parts/controls/button.tsx";
import { Page } from "./parts/layout/page.tsx";
import { Empty, Skeleton } from "./parts/layout/states.tsx";
import { FIRST_STEPS, homeOf, SCREENS, type Screen } from "./screens/registry.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";
import { firstSteps } from "./state/first-steps.ts";
import { matchPath, navigate, path, ROOT } from "./state/location.ts";
import type { ScreenProps } from "./state/screen.ts";
import { isInvitation, type Session, session } from "./state/session.ts";
import { text } from "./text/text.ts";

/** The console: the sign-in screen without a session, otherwise the screen of the address in the shell. An invitation needs neither. */
export function App() {
  const current = session.value;
  if (current === undefined) return null;
  if (isInvitation.value) return <Invite />;
  if (current === null) return <SignIn />;
  return (
    <Shell session={current}>
      <Crash key={path.value}>
        <CurrentScreen session={current} />
      </Crash>
    </Shell>
  );
}

function CurrentScreen({ session }: { session: Session }) {
  const at = path.value;
  const steps = firstSteps.value;
  useEffect(() => {
    if (at === ROOT && steps !== "unknown")
      navigate(steps === "done" ? homeOf(session) : FIRST_STEPS, { replaces: true });
  }, [at, steps, session]);
  if (at === ROOT) return null;
  for (const screen of SCREENS) {
    const params = matchPath(screen.path, at);
    if (params !== null && screen.sees(session))
      return <LazyScreen key={screen.path} screen={screen} params={params} />;
  }
  return <NotFound />;
}

/** The code of the screens that were shown. */
const loaded = new Map<Screen, ComponentType<ScreenProps>>();

function LazyScreen({ screen, params }: { screen: Screen } & ScreenProps) {
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (loaded.has(screen)) return;
    screen.load().then((content) => {
      loaded.set(screen, content);
      redraw((before) => before + 1);
    }, setError);
  }, [screen]);
  if (error !== null) throw error;
  const Content = loaded.get(screen);
  if (Content !== undefined) return <Content params={params} />;
  return (
    <Page title={screen.title}>
      <Skeleton />
    </Page>
  );
}

function NotFound() {
  return (
    <Page title={text.app.notFound}>
      <Empty title={text.app.notFound}>
        <p>{text.app.notFoundAbout}</p>
        <a class="button" href={ROOT}>
          {text.app.home}
        </a>
      </Empty>
    </Page>
  );
}

/** Shows an error of the screen in place of it; the navigation keeps working. */
class Crash extends Component<{ children: ComponentChildren }, { error: unknown }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <Page title={text.app.crashed}>
        <Empty title={text.app.crashed}>
          <p>{text.app.crashedAbout}</p>
          <code>{String(error)}</code>
          <Button onClick={() => window.location.reload()}>{text.app.reload}</Button>
        </Empty>
      </Page>
    );
  }
}
