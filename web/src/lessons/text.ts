// The strings of the lessons: a part of the table in lib/text.ts. A page's `seen` speaks of the
// sentence on the screen, in the engine's numbers; `own` speaks of the model that is open.

// Of the chosen word and another one; numbers are written already.
export interface WordFacts {
  chosen: string;
  other: string;
  similarity: string; // of chosen to other
  back: string; // of other to chosen
  weights: string; // of the chosen word, all of them
  weight: string; // of chosen to other
  exponential: string;
  sum: string;
  context: string;
  scale: string;
}

// What the model's config says.
export interface ModelNumbers {
  width: number;
  heads: number;
  headWidth: number;
  hidden: number;
  encoderLayers: number;
  decoderLayers: number;
  normPlace: string;
  positions: string;
  activation: string;
  parameters: string;
}

export interface LessonPage {
  body: string[];
  seen?: (facts: WordFacts) => string;
  own?: (model: ModelNumbers) => string; // empty if the model has none of it
  slip?: string;
}

export interface LessonText {
  title: string;
  summary: string;
  pages: LessonPage[];
}

const similarity: LessonText = {
  title: 'Similarity',
  summary: 'How alike are two words?',
  pages: [
    {
      body: [
        'A word is a list of numbers: a vector. Two words are alike when their vectors point the same way.',
        'The dot product multiplies them coordinate by coordinate and adds up. Drag a word and watch the table.',
      ],
      seen: ({ chosen, other, similarity }) => `${chosen} · ${other} = ${similarity}`,
    },
    {
      body: [
        'The cosine divides by both lengths. Only the direction is left: 1 for the same one, 0 for a right angle, −1 for the opposite.',
        'Drag a word straight away from the origin: its dot products grow, its cosines stay.',
      ],
      seen: ({ chosen, other, similarity }) => `cosine of ${chosen} and ${other} = ${similarity}`,
    },
    {
      body: [
        'Transformers take the dot product and divide it by the square root of d, the number of coordinates that are compared.',
        'If the coordinates vary independently with a standard deviation of 1, the sum of d products has one of √d. The scale takes that out again, so that wide vectors do not make the softmax all or nothing.',
      ],
      seen: ({ chosen, other, similarity, scale }) =>
        `${chosen} and ${other}: ${similarity}; each sum was multiplied by ${scale}, which is 1 / √2`,
      own: ({ width, heads, headWidth }) =>
        `width ${width}, ${heads} heads: each head compares ${headWidth} coordinates and divides by √${headWidth}`,
      slip: 'The scale is the square root of one head’s width, not of the model’s. With width 512 and 8 heads it is √64 = 8, not √512.',
    },
  ],
};

const softmax: LessonText = {
  title: 'Softmax',
  summary: 'From similarities to shares that sum to 1.',
  pages: [
    {
      body: [
        'A word looks at all words at once and gives each a share of its attention. Softmax makes the shares: the exponential of each similarity, divided by the sum of the row.',
        'All shares are positive, and each row sums to 1.',
      ],
      seen: ({ chosen, weights }) => `${chosen}: ${weights}`,
    },
    {
      body: [
        'Here is one row, one calculation at a time. First the largest similarity is taken away from all: the shares stay the same, and the exponential cannot overflow.',
        'Press Next below the calculation and follow the numbers.',
      ],
      seen: ({ chosen, other, exponential, sum, weight }) =>
        `${chosen} → ${other}: ${exponential} / ${sum} = ${weight}`,
      slip: 'Softmax rows sum to 1, columns do not. A word can be looked at by everybody or by nobody.',
    },
    {
      body: [
        'Larger similarities make a sharper choice. Switch between dot, scaled dot and cosine: the order of the shares stays nearly the same, their contrast does not.',
      ],
      seen: ({ chosen, weights }) => `${chosen}: ${weights}`,
      slip: 'A small similarity gets a small share, never exactly none. Only a masked word gets 0.',
    },
  ],
};

const attention: LessonText = {
  title: 'Attention without parameters',
  summary: 'Each word moves towards the words it looks at.',
  pages: [
    {
      body: [
        'The context of a word is the mean of all words, weighted by its shares. That is self-attention, with nothing learned yet. S is the table of similarities: here cosines, in a Transformer scaled dot products.',
        'The words walk to their contexts. The coloured pieces show who pulled the chosen one, and how far.',
      ],
      seen: ({ chosen, context }) => `${chosen} moves to (${context})`,
    },
    {
      body: [
        'Context comes as one reads. Move the slider above, or let the sentence be read word by word: earlier words move when a later one joins.',
        'In bat, cave the bat flies. In bat, racket it is held in a hand.',
      ],
      seen: ({ chosen, context }) => `${chosen} is now at (${context})`,
      slip: 'Attention does not pick the most similar word. It takes a weighted mean of all of them.',
    },
  ],
};

const projections: LessonText = {
  title: 'Query, key, value',
  summary: 'Three matrices that can be learned.',
  pages: [
    {
      body: [
        'So far every word asks, is found and gives with one and the same vector. Three matrices take these roles apart: the query asks, the key is what can be found, the value is what is given.',
        'Rotate the query matrix with the slider: the grid bends, and the similarities change.',
      ],
      seen: ({ chosen, other, similarity }) =>
        `query of ${chosen} · key of ${other}: ${similarity}`,
    },
    {
      body: [
        'Without matrices the table is symmetric. With them it need not be: one word may look at another that does not look back.',
      ],
      seen: ({ chosen, other, similarity, back }) =>
        `${chosen} → ${other}: ${similarity}; ${other} → ${chosen}: ${back}`,
    },
    {
      body: [
        'The value matrix decides what is passed on. It changes where the words go, and no share at all.',
      ],
      seen: ({ chosen, weights, context }) => `${chosen}: shares ${weights}; context (${context})`,
      slip: 'The matrices are learned once and are the same for every word and every sentence. Queries, keys and values are new for every sentence.',
    },
  ],
};

const heads: LessonText = {
  title: 'Heads',
  summary: 'Several looks at the same sentence.',
  pages: [
    {
      body: [
        'One softmax gives one way to look. Two heads have matrices of their own, and each moves the words its own way.',
        'Choose head 1 or head 2 above the plane and compare their tables.',
      ],
      seen: ({ chosen, weights }) => `${chosen} in this head: ${weights}`,
    },
    {
      body: [
        'The contexts of the heads are put side by side in one row, and the output matrix mixes them into one vector for each word.',
      ],
      own: ({ width, heads, headWidth }) =>
        `${heads} heads × ${headWidth} = ${width} coordinates, side by side`,
      slip: 'A head does not see a part of the sentence. It sees all words, through smaller matrices of its own.',
    },
  ],
};

const masks: LessonText = {
  title: 'Masks',
  summary: 'Who may look at whom.',
  pages: [
    {
      body: [
        'A model that generates text must not look ahead. The causal mask hides later words: their similarity becomes minus infinity, and the softmax gives them exactly 0.',
      ],
      seen: ({ chosen, weights }) => `${chosen}: ${weights}`,
    },
    {
      body: [
        'With the causal mask, read the sentence word by word again: earlier words no longer move. Their keys and values can be kept: this is called the KV cache.',
        'Draw a mask of your own in the table. A word that may look at nobody gets the zero vector.',
      ],
      slip: 'The mask works before the softmax. Setting shares to 0 after it would leave rows that do not sum to 1.',
    },
  ],
};

const positions: LessonText = {
  title: 'Positions',
  summary: 'Attention alone knows no order.',
  pages: [
    {
      body: [
        'Here is the sentence backwards. Every word has the same context as before, but for the last bit of rounding: attention sees a set of words, not a sequence.',
      ],
      seen: ({ chosen, context }) =>
        `${chosen} moves to (${context}), in this order and in any other`,
    },
    {
      body: [
        'So a model adds to each word a vector that says where it stands. The classic one is made of waves of different lengths. Others are learned, rotate the queries and keys (rotary positions, RoPE), or lower the score with the distance (ALiBi).',
        'In the arithmetic of one weight you see the row of the word and the row of its position.',
      ],
      own: ({ positions, width }) => `positions: ${positions}, ${width} coordinates`,
      slip: 'A position is not one more coordinate. Sinusoidal and learned positions are whole vectors, as wide as the word’s, that are added to it.',
    },
  ],
};

const norm: LessonText = {
  title: 'Add & norm',
  summary: 'Keep what was there, and keep its scale.',
  pages: [
    {
      body: [
        'The output of attention is added to the word, so that nothing that was known gets lost. This is called the residual connection.',
        'Then layer normalisation brings each word’s coordinates to mean 0 and variance 1, and a learned gain and bias follow.',
      ],
      own: ({ normPlace }) => `the norm comes ${normPlace} each sub-layer`,
      slip: 'Layer norm gives mean 0 and variance 1. It does not squeeze numbers into a range from 0 to 1: they may be negative, and larger than 1.',
    },
    {
      body: [
        'The mean runs over the coordinates of one word, not over the words of a sentence nor over a batch. So a word’s norm does not depend on its neighbours.',
      ],
    },
  ],
};

const feedForward: LessonText = {
  title: 'Feed-forward',
  summary: 'Each word thinks for itself.',
  pages: [
    {
      body: [
        'After the words have exchanged information, each passes alone through two matrices with a bend between them, called the activation. The same matrices serve every position.',
        'The paths show both moves apart: what attention did, and what the feed-forward layer did.',
      ],
      own: ({ width, hidden, activation }) =>
        `${width} → ${hidden} → ${width}, with ${activation} between`,
      slip: 'The feed-forward layer mixes the coordinates of one word. It never mixes words: only attention does.',
    },
  ],
};

const encoder: LessonText = {
  title: 'Encoder',
  summary: 'The same block, again and again.',
  pages: [
    {
      body: [
        'Attention, add & norm, feed-forward, add & norm: that is a block. An encoder stacks blocks; each starts from where the one below has moved the words.',
        'Each small picture is one head. Rows look at columns. Some look at the word before, some at the word itself, some at all.',
      ],
      own: ({ encoderLayers, heads }) =>
        encoderLayers > 0 ? `${encoderLayers} encoder layers × ${heads} heads` : '',
      slip: 'In an encoder every word sees every other, later ones too. Only a decoder is limited to earlier words.',
    },
    {
      body: [
        'Follow your words through the layers. The plane is that of the embeddings and stays the same, so that one sees the words move and not the picture.',
      ],
    },
  ],
};

const decoder: LessonText = {
  title: 'Decoder',
  summary: 'Generate a word, look back, generate the next.',
  pages: [
    {
      body: [
        'A decoder’s block has a causal mask. In a translator it has one sub-layer more: cross-attention, where the queries come from the words generated so far, the keys and values from the encoder.',
      ],
      own: ({ decoderLayers, heads }) =>
        decoderLayers > 0 ? `${decoderLayers} decoder layers × ${heads} heads` : '',
      slip: 'Cross-attention takes the query from the decoder, the key and the value from the encoder; not the other way round.',
    },
    {
      body: [
        'At the end each position is compared with every word of the vocabulary: these similarities are called logits, and a softmax makes probabilities of them. One word is chosen and appended, and the model predicts the next.',
      ],
      slip: 'In training, all positions are learned at once: the decoder reads the right words, and the mask hides the answer. This is called teacher forcing. Only generation goes word by word.',
    },
  ],
};

const training: LessonText = {
  title: 'Training',
  summary: 'Where the matrices come from.',
  pages: [
    {
      body: [
        'The loss is how surprised the model is by the right next word. Back-propagation computes for each number in each matrix which way lowers the loss, the gradient, and the optimizer takes a small step.',
      ],
      own: ({ parameters }) => `${parameters} numbers, all learned this way`,
    },
    {
      body: [
        'Move the slider over the saved checkpoints: the same sentence, the same view, an earlier model. Heads find their task by themselves.',
      ],
      slip: 'Nobody tells a head what to look at. Its weights are what lowers the loss, and by themselves they explain nothing: compare attention, gradient and cause under Attribution.',
    },
  ],
};

export const lessonsText = {
  title: 'Lessons',
  intro:
    'Twelve short lessons from two words that are alike to a trained model. They use the views of this page, so you can leave the path at any point and play.',
  sentence: 'Your own sentence',
  sentenceHint: 'bat cave racket',
  use: 'Use',
  start: 'Start',
  next: 'Next',
  back: 'Back',
  contents: 'All lessons',
  progress: (lesson: number, lessons: number) => `Lesson ${lesson} of ${lessons}`,
  page: (page: number, pages: number) => `${page} / ${pages}`,
  seen: 'In your sentence',
  own: 'In your model',
  slip: 'A common slip',
  needsModel:
    'This lesson looks into a model. Start the program with one to see it here: heed explore --model DIR',
  keys: { next: 'the next page of the lesson', back: 'the previous page' },
  lessons: {
    similarity,
    softmax,
    attention,
    projections,
    heads,
    masks,
    positions,
    norm,
    feedForward,
    encoder,
    decoder,
    training,
  },
};

export type LessonName = keyof typeof lessonsText.lessons;
