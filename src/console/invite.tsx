import { useState } from "preact/hooks";
import { atBase } from "./api/base.ts";
import { type ApiError, call } from "./api/client.ts";
import type { InvitationOffer, Operations } from "./api/schema.ts";
import { Button } from "./parts/controls/button.tsx";
import { Field } from "./parts/controls/field.tsx";
import { ErrorBox, Skeleton } from "./parts/layout/states.tsx";
import { formatZonedMinute } from "./parts/values/format.ts";
import { Mark } from "./parts/values/icon.tsx";
import { Code } from "./parts/values/values.tsx";
import { toApiError, useLoad } from "./state/load.ts";
import { navigate, ROOT } from "./state/location.ts";
import { invitationCode, readSession, session, signInOptions, signOut } from "./state/session.ts";
import { useKeySignIn } from "./state/use-key-sign-in.ts";
import { text } from "./text/text.ts";

const words = text.invitations.page;

type Accepted = Operations["POST /api/console/invitations/accept"]["response"];

/** The page of an invitation's link: what it offers, and the ways to accept it. */
export function Invite() {
  const code = invitationCode.value;
  const [accepted, setAccepted] = useState<Accepted | null>(null);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <h1>
          <Mark />
          {words.title}
        </h1>
        {accepted !== null ? (
          <Welcome accepted={accepted} />
        ) : code === null ? (
          <Failed>{words.noCode}</Failed>
        ) : (
          <Offer key={code} code={code} onAccepted={setAccepted} />
        )}
      </div>
    </main>
  );
}

/** What went wrong, and the way to the console. */
function Failed({ children, error }: { children?: string; error?: ApiError }) {
  return (
    <>
      {error === undefined ? <p role="status">{children}</p> : <ErrorBox error={error} />}
      <ConsoleLink />
    </>
  );
}

function ConsoleLink() {
  return (
    <a class="button" href={ROOT}>
      {words.open}
    </a>
  );
}

interface OfferProps {
  readonly code: string;
  readonly onAccepted: (accepted: Accepted) => void;
}

function Offer({ code, onAccepted }: OfferProps) {
  const offer = useLoad(code, async (signal) => {
    return (await call("POST /api/console/invitations/preview", { body: { code }, signal })).data;
  });
  if (offer.data === null)
    return offer.error === null ? <Skeleton lines={4} /> : <Failed error={offer.error} />;
  return (
    <>
      <Facts offer={offer.data} />
      <Ways code={code} onAccepted={onAccepted} />
    </>
  );
}

function Facts({ offer: { organization, role, teams, email, expires_at } }: { offer: InvitationOffer }) {
  const { lead, deletedTeam } = text.invitations;
  const names = teams.map(({ name, is_lead }) =>
    is_lead ? lead(name ?? deletedTeam) : (name ?? deletedTeam),
  );
  return (
    <>
      <p>{words.offer(organization.name)}</p>
      <dl class="facts">
        <Fact name={words.role}>{text.roles[role]}</Fact>
        {names.length === 0 ? null : <Fact name={words.teams}>{names.join(", ")}</Fact>}
        {email === null ? null : <Fact name={words.email}>{email}</Fact>}
        <Fact name={words.expires}>{formatZonedMinute(Date.parse(expires_at))}</Fact>
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class="breaks">{children}</dd>
    </>
  );
}

/** The ways to accept, which depend on who is signed in and on how people sign in to this gateway. */
function Ways(props: OfferProps) {
  const current = session.value;
  const { error, isBusy, accept } = useAcceptance(props);
  if (current)
    return (
      <>
        {error === null ? null : <ErrorBox error={error} />}
        {current.user === null ? (
          <p class="notice">{words.noUser}</p>
        ) : (
          <>
            <Button kind="primary" isBusy={isBusy} onClick={() => accept()}>
              {words.acceptAs(current.user.name)}
            </Button>
            <p class="field-hint">{words.another}</p>
          </>
        )}
        <Button onClick={() => void signOut()}>{text.signIn.signOut}</Button>
        {error === null ? null : <ConsoleLink />}
      </>
    );
  const { oidc } = signInOptions.value;
  return (
    <>
      {oidc === null ? (
        <NewPerson error={error} isBusy={isBusy} onAccept={accept} />
      ) : (
        <>
          {error === null ? null : <ErrorBox error={error} />}
          <Button kind="primary" isBusy={isBusy} onClick={() => accept()}>
            {text.signIn.oidc(oidc.name)}
          </Button>
        </>
      )}
      <p class="sign-in-or">{words.or}</p>
      <KnownPerson />
    </>
  );
}

/** Accepts the invitation. A person who must sign in at the provider leaves for it. */
function useAcceptance({ code, onAccepted }: OfferProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const accept = async (name?: string) => {
    setBusy(true);
    try {
      const body = name === undefined ? { code } : { code, name };
      const accepted = await call("POST /api/console/invitations/accept", { body });
      const { sign_in_path } = accepted.data;
      if (sign_in_path !== null) return window.location.assign(atBase(sign_in_path));
      if (accepted.key === null) return await openConsole();
      onAccepted(accepted);
    } catch (failure) {
      setError(toApiError(failure));
    }
    setBusy(false);
  };
  return { error, isBusy, accept: (name?: string) => void accept(name) };
}

/** Shows the first page of the console in the session that the browser has now. */
async function openConsole(): Promise<void> {
  await readSession();
  navigate(ROOT, { replaces: true });
}

function NewPerson(props: { error: ApiError | null; isBusy: boolean; onAccept: (name: string) => void }) {
  const { error, isBusy, onAccept } = props;
  const [name, setName] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim() !== "") onAccept(name.trim());
  };
  const isOfName = error?.field === "name";
  return (
    <form class="stack" onSubmit={submit}>
      {error === null || isOfName ? null : <ErrorBox error={error} />}
      <Field
        label={words.name}
        hint={words.nameHint}
        error={isOfName ? error.message : null}
        autocomplete="name"
        value={name}
        onInput={setName}
        isRequired
        hasFocus
      />
      <Button kind="primary" isSubmit isBusy={isBusy}>
        {words.accept}
      </Button>
    </form>
  );
}

/** Signs in a person who is a user already, after which the page offers to accept as that user. */
function KnownPerson() {
  const [isOpen, setOpen] = useState(false);
  const { key, setKey, error, isBusy, submit } = useKeySignIn();
  if (!isOpen) return <Button onClick={() => setOpen(true)}>{words.known}</Button>;
  return (
    <form class="stack" onSubmit={submit}>
      <Field
        label={text.signIn.key}
        hint={words.knownAbout}
        error={error}
        type="password"
        autocomplete="current-password"
        value={key}
        onInput={setKey}
        isRequired
        hasFocus
      />
      <Button isSubmit isBusy={isBusy}>
        {text.signIn.submit}
      </Button>
    </form>
  );
}

/** Shows the key of a person who has accepted, once. */
function Welcome({ accepted: { key, data } }: { accepted: Accepted }) {
  return (
    <>
      <p role="status">{words.accepted(data.organization.name)}</p>
      {key === null ? null : (
        <>
          <p>{words.keyAbout}</p>
          <Code label={words.key} value={key} />
        </>
      )}
      <Button kind="primary" onClick={() => void openConsole()}>
        {words.open}
      </Button>
    </>
  );
}
