/** What is wrong with a field or a group of fields, read aloud when it appears; nothing for null. `id` is for `aria-describedby`. */
export function FieldError({ error, id }: { error: string | null; id?: string }) {
  return error === null ? null : (
    <div id={id} class="field-error" role="alert">
      {error}
    </div>
  );
}
