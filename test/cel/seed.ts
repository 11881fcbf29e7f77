// The condition of the Cleaner's proposal, unchanged, and revisions to try it on.

export const SEED_CONDITION = `!revisions.items.exists(r,
  r.metadata.annotations["serving.knative.dev/routes"]
    .split(",")
    .exists(route, !route.startsWith("sfj-") && !route.startsWith("preview-"))
  ||
  r.status.conditions
    .filter(c, c.type == "Active")
    .exists(c, c.status == "True" || time - timestamp(c.lastTransitionTime) < duration("360h"))
)`;

export interface Revision {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

export const ROUTES = 'serving.knative.dev/routes';

/** A revision that became idle at `since`. By default it has only preview routes. */
export function idleRevision(
  name: string,
  since: string,
  routes: string | undefined = `sfj-${name},preview-${name}`,
): Revision {
  return {
    metadata: { name, ...(routes === undefined ? {} : { annotations: { [ROUTES]: routes } }) },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: since },
        { type: 'Active', status: 'False', lastTransitionTime: since },
        { type: 'ContainerHealthy', status: 'True', lastTransitionTime: since },
      ],
    },
  };
}

const WINDOW = 360 * 3_600_000;

/** The same condition in hand-written JavaScript (to the millisecond, the resolution of a Date). */
export function handWritten(revisions: { readonly items: readonly Revision[] }, now: number): boolean {
  return !revisions.items.some(
    (r) =>
      r.metadata
        .annotations![ROUTES]!.split(',')
        .some((x) => !x.startsWith('sfj-') && !x.startsWith('preview-')) ||
      r.status.conditions
        .filter((c) => c.type === 'Active')
        .some((c) => c.status === 'True' || now - Date.parse(c.lastTransitionTime) < WINDOW),
  );
}
