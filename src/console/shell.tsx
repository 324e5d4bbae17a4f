import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./parts/controls/button.tsx";
import { Palette, PaletteButton } from "./parts/layout/palette.tsx";
import { Toasts } from "./parts/layout/toast.tsx";
import { Icon, Mark } from "./parts/values/icon.tsx";
import { ZoneSwitch } from "./parts/values/zone.tsx";
import { FIRST_STEPS, SCREENS, type Screen } from "./screens/registry.ts";
import { VIEWS } from "./screens/views.ts";
import type { Option } from "./state/filter-options.ts";
import { firstSteps } from "./state/first-steps.ts";
import { path } from "./state/location.ts";
import { type Session, signOut } from "./state/session.ts";
import { chooseTheme, THEMES, theme } from "./state/theme.ts";
import { text } from "./text/text.ts";

/** The frame of all screens: the navigation beside the content; on narrow screens in a drawer. */
export function Shell({ session, children }: { session: Session; children: ComponentChildren }) {
  const drawer = useRef<HTMLDialogElement>(null);
  const at = path.value;
  useEffect(() => drawer.current?.close(), [at]);
  return (
    <div class="shell">
      <a class="skip-link" href="#content">
        {text.app.skip}
      </a>
      <Navigation session={session} />
      <div class="top-bar">
        <Button
          kind="bare"
          icon="menu"
          label={text.app.openNavigation}
          onClick={() => drawer.current?.showModal()}
        />
        <span class="grow">{text.app.name}</span>
        <PaletteButton />
      </div>
      <dialog ref={drawer} class="drawer" aria-label={text.app.navigation} onClick={closeOnBackdrop}>
        <Navigation session={session} />
      </dialog>
      <main class="main" id="content" tabIndex={-1}>
        {children}
      </main>
      <Toasts />
      <Palette options={listPages(session)} views={listViews(session)} />
    </div>
  );
}

/** The screens of the navigation as options of the palette. */
function listPages(session: Session): readonly Option[] {
  return SCREENS.filter(({ group, sees }) => group !== null && sees(session)).map((screen) => ({
    value: screen.path,
    label: screen.title,
    detail: text.groups[screen.group ?? "start"],
  }));
}

/** The views of the screens that the signed-in person sees, and their teams, as options of the palette. */
function listViews(session: Session): readonly Option[] {
  const seen = new Set(SCREENS.filter(({ sees }) => sees(session)).map((screen) => screen.path));
  const views = VIEWS.filter(({ screen }) => seen.has(screen)).map(({ screen, query, title }) => ({
    value: `${screen}?${query}`,
    label: title,
    detail: text.palette.view,
  }));
  const teams = session.teams.map(({ id, name }) => ({
    value: `/console/people/${session.account?.id}/teams/${id}`,
    label: name,
    detail: text.keys.team,
  }));
  return [...views, ...teams];
}

function closeOnBackdrop(event: MouseEvent): void {
  if (event.target === event.currentTarget) (event.currentTarget as HTMLDialogElement).close();
}

function Navigation({ session }: { session: Session }) {
  const groups = Object.entries(text.groups) as [keyof typeof text.groups, string][];
  return (
    <nav class="nav" aria-label={text.app.navigation}>
      <div class="nav-head">
        <Mark />
        <span class="cut">
          {text.app.name}
          <span class="nav-account cut">{session.account?.name ?? text.app.operator}</span>
        </span>
        <PaletteButton />
      </div>
      <div class="nav-list">
        {groups.map(([group, title]) => (
          <NavGroup
            key={group}
            title={title}
            screens={SCREENS.filter(
              (screen) => screen.group === group && screen.sees(session) && isListed(screen),
            )}
          />
        ))}
      </div>
      <div class="nav-more">
        <a class="nav-link" href="/docs" target="_blank" rel="noreferrer">
          <Icon name="book" />
          <span class="cut">{text.app.documentation}</span>
        </a>
        <ZoneSwitch />
      </div>
      <NavFoot session={session} />
    </nav>
  );
}

/** The first steps leave the navigation when they are done. The list of pages still finds them. */
function isListed({ path }: Screen): boolean {
  return path !== FIRST_STEPS || firstSteps.value !== "done";
}

function NavGroup({ title, screens }: { title: string; screens: readonly Screen[] }) {
  if (screens.length === 0) return null;
  const at = path.value;
  return (
    <div class="nav-group">
      <div class="nav-group-title">{title}</div>
      <ul>
        {screens.map((screen) => (
          <li key={screen.path}>
            <a class="nav-link" href={screen.path} aria-current={isAt(screen, at) ? "page" : undefined}>
              <Icon name={screen.icon} />
              <span class="cut">{screen.title}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Whether a page is the screen's, or one below it. */
function isAt(screen: Screen, at: string): boolean {
  return at === screen.path || at.startsWith(`${screen.path}/`);
}

const THEME_ICONS = { system: "screen", light: "sun", dark: "moon" } as const;

function NavFoot({ session }: { session: Session }) {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  return (
    <div class="nav-foot">
      <div class="nav-user">
        <div class="cut">{session.user?.name ?? text.app.operator}</div>
        <div class="cut faint">{session.user === null ? session.version : text.roles[session.role]}</div>
      </div>
      <Button
        kind="bare"
        icon={THEME_ICONS[theme.value]}
        label={text.theme[theme.value]}
        onClick={() => chooseTheme(next)}
      />
      <Button kind="bare" icon="exit" label={text.signIn.signOut} onClick={() => void signOut()} />
    </div>
  );
}
