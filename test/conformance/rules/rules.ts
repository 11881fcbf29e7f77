import type { WireCase, WireFile } from '../replay/types.ts';
import { DELETION_EVENTS } from './deletionEvents.ts';
import { EDGE_CASES } from './edgeCases.ts';

export const RULES = [DELETION_EVENTS, EDGE_CASES].flatMap((file) =>
  file.cases.map((one): [name: string, file: WireFile, one: WireCase] => [one.name, file, one]),
);
