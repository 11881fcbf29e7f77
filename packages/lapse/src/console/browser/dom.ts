// Minimal browser types (the project is checked without the DOM library, which would be visible everywhere), and the
// only function that creates elements: strings always become text, never markup.

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Element {
  id: string;
  className: string;
  textContent: string | null;
  hidden: boolean;
  value: string;
  disabled: boolean;
  scrollTop: number;
  readonly clientWidth: number;
  readonly clientHeight: number;
  readonly offsetWidth: number;
  readonly offsetHeight: number;
  readonly dataset: Record<string, string | undefined>;
  readonly style: { setProperty(name: string, value: string): void };
  append(...children: (Element | string)[]): void;
  replaceChildren(...children: (Element | string)[]): void;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  addEventListener(type: string, listener: (event: Happening) => void, options?: { passive: boolean }): void;
  getBoundingClientRect(): Box;
  closest(selector: string): Element | null;
  contains(other: Element | null): boolean;
  matches(selector: string): boolean;
  focus(options?: { preventScroll: boolean }): void;
  select(): void;
  setPointerCapture(pointer: number): void;
}

/** Any event, with the fields that the script reads. */
export interface Happening {
  readonly target: Element | null;
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly clientX: number;
  readonly clientY: number;
  readonly deltaX: number;
  readonly deltaY: number;
  readonly deltaMode: number;
  readonly pointerId: number;
  readonly button: number;
  preventDefault(): void;
}

export interface Pen {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  globalAlpha: number;
  font: string;
  textAlign: 'left' | 'center' | 'right';
  textBaseline: 'middle' | 'alphabetic';
  save(): void;
  restore(): void;
  beginPath(): void;
  closePath(): void;
  rect(x: number, y: number, width: number, height: number): void;
  roundRect(x: number, y: number, width: number, height: number, radius: number): void;
  arc(x: number, y: number, radius: number, from: number, to: number): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  clip(): void;
  fill(): void;
  stroke(): void;
  fillRect(x: number, y: number, width: number, height: number): void;
  clearRect(x: number, y: number, width: number, height: number): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { readonly width: number };
  setLineDash(pattern: readonly number[]): void;
  setTransform(a: number, b: number, c: number, d: number, e: number, f: number): void;
}

export interface Canvas extends Element {
  width: number;
  height: number;
  getContext(kind: '2d'): Pen;
}

export interface Browser {
  readonly document: Element & {
    readonly documentElement: Element;
    readonly activeElement: Element | null;
    getElementById(id: string): Element | null;
    createElement(tag: string): Element;
  };
  readonly devicePixelRatio: number;
  readonly innerWidth: number;
  readonly innerHeight: number;
  readonly ResizeObserver: new (seen: () => void) => { observe(element: Element): void };
  addEventListener(type: string, listener: (event: Happening) => void): void;
  getComputedStyle(element: Element): { getPropertyValue(name: string): string };
  matchMedia(query: string): {
    readonly matches: boolean;
    addEventListener(type: 'change', listener: () => void): void;
  };
  requestAnimationFrame(paint: () => void): number;
}

export const browser = globalThis as unknown as Browser;

export function byId(id: string): Element {
  const element = browser.document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}

export const canvasById = (id: string): Canvas => byId(id) as Canvas;

/** An element with attributes and children. Strings become text. */
export function h(
  tag: string,
  attributes: Record<string, string>,
  ...children: (Element | string)[]
): Element {
  const element = browser.document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Runs at most once per frame. */
export function perFrame(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    browser.requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
