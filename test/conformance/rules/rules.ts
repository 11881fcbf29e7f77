import type { WireCase, WireFile } from '../replay/types.ts';
import { CORNERS } from './corners.ts';
import { ENDINGS } from './endings.ts';

export const RULES = [ENDINGS, CORNERS].flatMap((file) =>
  file.cases.map((one): [name: string, file: WireFile, one: WireCase] => [one.name, file, one]),
);
