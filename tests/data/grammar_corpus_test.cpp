#include "heed/data/grammar_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "support/expect_error.h"

namespace heed::data {
namespace {

// --- Single sentences ---

const SentencePattern& pattern_named(const std::string& name) {
  const auto& patterns = Grammar::built_in().patterns;
  const auto found = std::find_if(patterns.begin(), patterns.end(),
                                  [&](const SentencePattern& p) { return p.name() == name; });
  check(found != patterns.end(), "no pattern ", name);
  return *found;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::istringstream in(text);
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// The English words of a pattern's slots, in their order; "-" leaves an optional one out.
Choice choose_words(const SentencePattern& pattern, const std::string& english) {
  const std::vector<std::string> words = split(english, ',');
  check(words.size() == pattern.slots().size(), pattern.name(), " has ", pattern.slots().size(),
        " slots");
  Choice choice;
  for (std::size_t i = 0; i < words.size(); ++i) {
    int chosen = no_word;
    for (const int word : pattern.slots()[i].choices) {
      if (Grammar::built_in().lexicon.word(word).english == words[i]) chosen = word;
    }
    check(chosen != no_word || words[i] == "-", pattern.name(), " has no word ", words[i]);
    choice.push_back(chosen);
  }
  return choice;
}

struct GoldenSentence {
  std::string pattern, words, english, german;
};

const std::vector<GoldenSentence>& golden_sentences() {
  static const std::vector<GoldenSentence> sentences = {
      {"because_on.animal", "cat,-,sit,on,mat,tired",
       "The cat sat on the mat because it was tired.",
       "Die Katze saß auf der Matte, weil sie müde war."},
      {"because_on.thing", "cat,-,sit,on,mat,soft", "The cat sat on the mat because it was soft.",
       "Die Katze saß auf der Matte, weil sie weich war."},
      {"because_on.thing", "dog,small,lie,on,mat,clean",
       "The small dog lay on the mat because it was clean.",
       "Der kleine Hund lag auf der Matte, weil sie sauber war."},
      {"although_on.animal", "puppy,sleep,on,red,sofa,hungry",
       "The puppy slept on the red sofa although it was hungry.",
       "Der Welpe schlief auf dem roten Sofa, obwohl er hungrig war."},
      {"although_on.thing", "owl,rest,on,-,bench,narrow",
       "The owl rested on the bench although it was narrow.",
       "Die Eule ruhte auf der Bank, obwohl sie schmal war."},
      {"because_near.animal", "lamb,wait,in front of,armchair,ill",
       "The lamb waited in front of the armchair because it was ill.",
       "Das Lamm wartete vor dem Sessel, weil es krank war."},
      {"because_near.thing", "mouse,sleep,under,table,sticky",
       "The mouse slept under the table because it was sticky.",
       "Die Maus schlief unter dem Tisch, weil er klebrig war."},
      {"because_left.animal", "goat,white,leave,old,raft,thirsty",
       "The white goat left the old raft because it was thirsty.",
       "Die weiße Ziege verließ das alte Floß, weil sie durstig war."},
      {"because_left.thing", "rabbit,young,avoid,big,chair,broken",
       "The young rabbit avoided the big chair because it was broken.",
       "Das junge Kaninchen mied den großen Stuhl, weil er kaputt war."},
      {"although_left.animal", "hedgehog,leave,blanket,sleepy",
       "The hedgehog left the blanket although it was sleepy.",
       "Der Igel verließ die Decke, obwohl er schläfrig war."},
      {"although_left.thing", "monkey,avoid,swing,sturdy",
       "The monkey avoided the swing although it was sturdy.",
       "Der Affe mied die Schaukel, obwohl sie stabil war."},
      {"because_onto.animal", "kitten,jump,onto,blue,stool,curious",
       "The kitten jumped onto the blue stool because it was curious.",
       "Das Kätzchen sprang auf den blauen Hocker, weil es neugierig war."},
      {"because_onto.thing", "fox,climb,onto,-,bed,wide",
       "The fox climbed onto the bed because it was wide.",
       "Der Fuchs kletterte auf das Bett, weil es breit war."},
      {"although_onto.animal", "duck,grey,climb,onto,board,weak",
       "A grey duck climbed onto the board although it was weak.",
       "Eine graue Ente kletterte auf das Brett, obwohl sie schwach war."},
      {"although_onto.thing", "owl,-,crawl,onto,carpet,dusty",
       "An owl crawled onto the carpet although it was dusty.",
       "Eine Eule kroch auf den Teppich, obwohl er staubig war."},
      {"time_because_on.animal", "last night,frog,sit,on,crate,sad",
       "Last night the frog sat on the crate because it was sad.",
       "Letzte Nacht saß der Frosch auf der Kiste, weil er traurig war."},
      {"time_because_on.thing", "yesterday,chick,sleep,on,mattress,smooth",
       "Yesterday the chick slept on the mattress because it was smooth.",
       "Gestern schlief das Küken auf der Matratze, weil sie glatt war."},
      {"that_because_on.animal", "squirrel,sit,on,cart,lazy",
       "I believe that the squirrel sits on the cart because it is lazy.",
       "Ich glaube, dass das Eichhörnchen auf dem Wagen sitzt, weil es faul ist."},
      {"that_because_on.thing", "tortoise,lie,on,cushion,new",
       "I believe that the tortoise lies on the cushion because it is new.",
       "Ich glaube, dass die Schildkröte auf dem Kissen liegt, weil es neu ist."},
      {"next_sentence.animal", "hamster,wait,on,shelf,angry",
       "The hamster waited on the shelf. It was angry.",
       "Der Hamster wartete auf dem Regal. Er war wütend."},
      {"next_sentence.thing", "chicken,rest,on,sofa,hard",
       "The chicken rested on the sofa. It was hard.", "Das Huhn ruhte auf dem Sofa. Es war hart."},
      {"bat_lives.flying", "bat,-,cave", "A bat lives in the cave.",
       "Eine Fledermaus lebt in der Höhle."},
      {"bat_lies.playing", "bat,old,locker", "An old bat lies in the locker.",
       "Ein alter Schläger liegt im Spind."},
      {"bat_then_place.flying", "girl,see,bat,small,tower",
       "The girl saw a small bat in the tower.", "Das Mädchen sah eine kleine Fledermaus im Turm."},
      {"bat_then_place.playing", "boy,find,bat,black,gym", "The boy found a black bat in the gym.",
       "Der Junge fand einen schwarzen Schläger in der Turnhalle."},
      {"place_then_bat.flying", "farmer,notice,bat,-,barn",
       "In the barn the farmer noticed the bat.",
       "In der Scheune bemerkte der Bauer die Fledermaus."},
      {"place_then_bat.playing", "woman,see,bat,brown,stadium",
       "In the stadium the woman saw the brown bat.",
       "Im Stadion sah die Frau den braunen Schläger."},
      {"bat_beside.flying", "child,draw,bat,big,beside,monkey",
       "The child drew the big bat beside the monkey.",
       "Das Kind zeichnete die große Fledermaus neben dem Affen."},
      {"bat_beside.playing", "aunt,find,bat,-,behind,tennis racket",
       "The aunt found the bat behind the tennis racket.",
       "Die Tante fand den Schläger hinter dem Tennisschläger."},
      {"bat_and.flying", "uncle,see,bat,puppy", "The uncle saw a bat and a puppy.",
       "Der Onkel sah eine Fledermaus und einen Welpen."},
      {"bat_and.playing", "man,see,bat,medal", "The man saw a bat and a medal.",
       "Der Mann sah einen Schläger und eine Medaille."},
      {"and_bat.flying", "man,see,bat,owl", "The man saw an owl and a bat.",
       "Der Mann sah eine Eule und eine Fledermaus."},
      {"and_bat.playing", "man,see,bat,ball", "The man saw a ball and a bat.",
       "Der Mann sah einen Ball und einen Schläger."},
      {"two_bats.flying", "woman,notice,bat,grey,forest",
       "The woman noticed two grey bats in the forest.",
       "Die Frau bemerkte zwei graue Fledermäuse im Wald."},
      {"two_bats.playing", "woman,notice,bat,-,sports bag",
       "The woman noticed two bats in the sports bag.",
       "Die Frau bemerkte zwei Schläger in der Sporttasche."},
      {"bat_is.flying", "boy,know,bat,black,hungry", "The boy knows that the black bat is hungry.",
       "Der Junge weiß, dass die schwarze Fledermaus hungrig ist."},
      {"bat_is.playing", "boy,believe,bat,-,crooked", "The boy believes that the bat is crooked.",
       "Der Junge glaubt, dass der Schläger schief ist."},
      {"bat_which.flying", "bat,small,girl,see,yesterday,castle",
       "The small bat that the girl saw yesterday lives in the castle.",
       "Die kleine Fledermaus, die das Mädchen gestern sah, lebt im Schloss."},
      {"bat_which.playing", "bat,-,grandmother,find,this morning,changing room",
       "The bat that the grandmother found this morning lies in the changing room.",
       "Der Schläger, den die Großmutter heute Morgen fand, liegt in der Umkleide."},
      {"bat_with.flying", "frog,bat,brown,tunnel", "The frog and the brown bat live in the tunnel.",
       "Der Frosch und die braune Fledermaus leben im Tunnel."},
      {"bat_with.playing", "jersey,bat,-,clubhouse", "The jersey and the bat lie in the clubhouse.",
       "Das Trikot und der Schläger liegen im Klubhaus."},
      {"bat_hits.playing", "girl,ball,bat,big", "The girl hits the ball with the big bat.",
       "Das Mädchen trifft den Ball mit dem großen Schläger."},
      {"transitive", "dog,look for,white,hamster", "The dog looks for the white hamster.",
       "Der Hund sucht den weißen Hamster."},
      {"question", "cat,hear,mouse", "Does the cat hear the mouse?", "Hört die Katze die Maus?"},
      {"negation", "farmer,does not,see,fox", "The farmer does not see the fox.",
       "Der Bauer sieht den Fuchs nicht."},
      {"dative_object", "piglet,follow,big,goose", "The piglet follows the big goose.",
       "Das Ferkel folgt der großen Gans."},
      {"two_objects", "aunt,give,boy,red,cushion", "The aunt gave the boy a red cushion.",
       "Die Tante gab dem Jungen ein rotes Kissen."},
      {"time_first", "last week,uncle,buy,old,armchair",
       "Last week the uncle bought an old armchair.",
       "Letzte Woche kaufte der Onkel einen alten Sessel."},
      {"time_first_place", "every day,black,cat,sleep,behind,crate",
       "Every day the black cat sleeps behind the crate.",
       "Jeden Tag schläft die schwarze Katze hinter der Kiste."},
      {"perfect", "man,sell,blue,table", "The man has sold the blue table.",
       "Der Mann hat den blauen Tisch verkauft."},
      {"perfect_motion", "dog,crawl,under,white,bench",
       "The dog has crawled under the white bench.",
       "Der Hund ist unter die weiße Bank gekrochen."},
      {"modal", "child,wants to,wash,small,lamb", "The child wants to wash the small lamb.",
       "Das Kind will das kleine Lamm waschen."},
      {"separable", "woman,carry,red,carpet", "The woman carries the red carpet away.",
       "Die Frau trägt den roten Teppich weg."},
      {"separable_final", "man,say,aunt,push,helmet",
       "The man says that the aunt pushes the helmet aside.",
       "Der Mann sagt, dass die Tante den Helm beiseiteschiebt."},
      {"perfect_final", "girl,angry,boy,draw,cap",
       "The girl is angry because the boy has drawn the cap.",
       "Das Mädchen ist wütend, weil der Junge die Mütze gezeichnet hat."},
      {"when", "cat,sleep,mouse,dance", "When the cat sleeps, the mouse dances.",
       "Wenn die Katze schläft, tanzt die Maus."},
      {"plural", "chicken,sit,under,old,cart", "The chickens sit under the old cart.",
       "Die Hühner sitzen unter dem alten Wagen."},
      {"plural_past", "frog,wait,beside,shelf", "The frogs waited beside the shelves.",
       "Die Frösche warteten neben den Regalen."},
      {"two_things", "hedgehog,lie,in front of,brown,sofa",
       "The hedgehog lay in front of two brown sofas.", "Der Igel lag vor zwei braunen Sofas."},
      {"with", "grandmother,young,puppy,valley",
       "The grandmother plays with the young puppy in the valley.",
       "Die Großmutter spielt mit dem jungen Welpen im Tal."},
      {"for", "uncle,small,mat,brown,monkey", "The uncle buys a small mat for the brown monkey.",
       "Der Onkel kauft eine kleine Matte für den braunen Affen."},
      {"and_object", "boy,find,trophy,wash", "The boy finds the trophy and washes it.",
       "Der Junge findet den Pokal und wäscht ihn."},
      {"to", "squirrel,run,ruin", "The squirrel runs to the ruin.",
       "Das Eichhörnchen läuft zur Ruine."},
      {"lives_in", "white,fox,forest", "A white fox lives in the forest.",
       "Ein weißer Fuchs lebt im Wald."},
      {"my_animal", "chick,big,nervous", "My big chick is nervous.",
       "Mein großes Küken ist nervös."},
      {"this_thing", "table,black,dirty", "This black table is dirty.",
       "Dieser schwarze Tisch ist schmutzig."},
      {"cross.animal", "dog,cross,river,hungry", "The dog crossed the river because it was hungry.",
       "Der Hund überquerte den Fluss, weil er hungrig war."},
      {"cross.thing", "cow,cross,field,slippery",
       "The cow crossed the field although it was slippery.",
       "Die Kuh überquerte das Feld, obwohl es rutschig war."},
      {"not_cross.animal", "cat,-,cross,did not,street,tired",
       "The cat did not cross the street because it was tired.",
       "Die Katze überquerte die Straße nicht, weil sie müde war."},
      {"not_cross.thing", "dog,big,cross,didn't,bridge,narrow",
       "The big dog didn't cross the bridge because it was narrow.",
       "Der große Hund überquerte die Brücke nicht, weil sie schmal war."},
      {"not_cross_too.animal", "animal,cross,didn't,street,too,tired",
       "The animal didn't cross the street because it was too tired.",
       "Das Tier überquerte die Straße nicht, weil es zu müde war."},
      {"not_cross_too.thing", "animal,cross,didn't,street,too,wide",
       "The animal didn't cross the street because it was too wide.",
       "Das Tier überquerte die Straße nicht, weil sie zu breit war."},
      {"not_on.animal", "bird,did not,sit,on,bench,restless",
       "The bird did not sit on the bench because it was restless.",
       "Der Vogel saß nicht auf der Bank, weil er unruhig war."},
      {"not_on.thing", "cat,didn't,sleep,on,bed,hard",
       "The cat didn't sleep on the bed because it was hard.",
       "Die Katze schlief nicht auf dem Bett, weil es hart war."},
      {"eat_because.animal", "cat,eat,fish,hungry", "The cat ate the fish because it was hungry.",
       "Die Katze fraß den Fisch, weil sie hungrig war."},
      {"eat_because.thing", "cat,eat,fish,fresh", "The cat ate the fish because it was fresh.",
       "Die Katze fraß den Fisch, weil er frisch war."},
      {"bat_flies.flying", "bat,-,fly,cave", "The bat flew out of the cave.",
       "Die Fledermaus flog aus der Höhle."},
      {"bat_flies_into.flying", "bat,black,fly,house", "The black bat flew into the house.",
       "Die schwarze Fledermaus flog ins Haus."},
      {"bat_sleeps.flying", "bat,-,sleep,cave", "The bat sleeps in the cave.",
       "Die Fledermaus schläft in der Höhle."},
      {"bat_short.flying", "bat,-,sleep", "The bat sleeps.", "Die Fledermaus schläft."},
      {"bat_short_past.flying", "bat,small,fly", "The small bat flew.",
       "Die kleine Fledermaus flog."},
      {"bat_plural.flying", "bat,fly", "The bats fly.", "Die Fledermäuse fliegen."},
      {"bat_not.flying", "bat,does not,sleep", "The bat does not sleep.",
       "Die Fledermaus schläft nicht."},
      {"bat_asks.flying", "bat,sleep", "Where does the bat sleep?", "Wo schläft die Fledermaus?"},
      {"bat_state.flying", "bat,-,tired", "The bat is tired.", "Die Fledermaus ist müde."},
      {"bat_state.playing", "bat,old,broken", "The old bat is broken.",
       "Der alte Schläger ist kaputt."},
      {"intransitive", "-,cat,sleep", "The cat sleeps.", "Die Katze schläft."},
      {"intransitive_past", "bird,sing", "The bird sang.", "Der Vogel sang."},
      {"intransitive_human", "girl,laugh", "The girl laughs.", "Das Mädchen lacht."},
      {"intransitive_plural", "animal,run", "The animals run.", "Die Tiere laufen."},
      {"intransitive_two", "cat,dog,sleep", "The cat and the dog sleep.",
       "Die Katze und der Hund schlafen."},
      {"flies", "white,goose,fly", "The white goose flies.", "Die weiße Gans fliegt."},
      {"not_intransitive", "dog,doesn't,sleep", "The dog doesn't sleep.",
       "Der Hund schläft nicht."},
      {"not_intransitive_past", "child,did not,wait", "The child did not wait.",
       "Das Kind wartete nicht."},
      {"asks_intransitive", "cat,swim", "Does the cat swim?", "Schwimmt die Katze?"},
      {"asks_where", "cat,sleep", "Where does the cat sleep?", "Wo schläft die Katze?"},
      {"asks_where_is", "small,puppy", "Where is the small puppy?", "Wo ist der kleine Welpe?"},
      {"in_place", "boy,play,garden", "The boy plays in the garden.",
       "Der Junge spielt im Garten."},
      {"in_place_past", "cow,rest,kitchen", "The cow rested in the kitchen.",
       "Die Kuh ruhte in der Küche."},
      {"on_thing", "black,cat,sleep,on,sofa", "The black cat sleeps on the sofa.",
       "Die schwarze Katze schläft auf dem Sofa."},
      {"on_thing_past", "-,cat,sit,on,-,mat", "The cat sat on the mat.",
       "Die Katze saß auf der Matte."},
      {"into", "-,dog,run,house", "The dog ran into the house.", "Der Hund lief ins Haus."},
      {"out_of", "young,woman,walk,forest", "The young woman walked out of the forest.",
       "Die junge Frau ging aus dem Wald."},
      {"through", "dog,go,garden", "The dog went through the garden.",
       "Der Hund ging durch den Garten."},
      {"flies_out_of", "-,bird,fly,cellar", "The bird flew out of the cellar.",
       "Der Vogel flog aus dem Keller."},
      {"flies_into", "grey,owl,fly,tower", "The grey owl flew into the tower.",
       "Die graue Eule flog in den Turm."},
      {"crosses", "-,man,cross,path", "The man crossed the path.", "Der Mann überquerte den Weg."},
      {"not_crosses", "cat,did not,cross,street", "The cat did not cross the street.",
       "Die Katze überquerte die Straße nicht."},
      {"animal_eats", "-,dog,eat,bread", "The dog eats the bread.", "Der Hund frisst das Brot."},
      {"person_eats", "girl,eat,apple", "The girl eats the apple.", "Das Mädchen isst den Apfel."},
      {"animal_is", "-,cat,tired", "The cat is tired.", "Die Katze ist müde."},
      {"animal_was", "owl,very,hungry", "The owl was very hungry.", "Die Eule war sehr hungrig."},
      {"thing_is", "red,chair,broken", "The red chair is broken.", "Der rote Stuhl ist kaputt."},
      {"crossing_is", "street,too,wide", "The street is too wide.", "Die Straße ist zu breit."},
      {"food_is", "egg,fresh", "The egg is fresh.", "Das Ei ist frisch."},
      {"asks_state", "dog,hungry", "Is the dog hungry?", "Ist der Hund hungrig?"},
      {"transitive_past", "dog,chase,cat", "The dog chased the cat.", "Der Hund jagte die Katze."},
  };
  return sentences;
}

TEST(GrammarCorpus, WritesEveryPatternAsAReaderWould) {
  std::set<std::string> covered;
  for (const GoldenSentence& golden : golden_sentences()) {
    const SentencePattern& pattern = pattern_named(golden.pattern);
    const Choice choice = choose_words(pattern, golden.words);
    EXPECT_EQ(pattern.english(choice, Grammar::built_in().lexicon), golden.english);
    EXPECT_EQ(pattern.german(choice, Grammar::built_in().lexicon), golden.german);
    covered.insert(golden.pattern);
  }
  for (const SentencePattern& pattern : Grammar::built_in().patterns) {
    EXPECT_TRUE(covered.contains(pattern.name())) << pattern.name() << " has no golden sentence";
  }
}

const Word& word_named(const std::string& english) {
  for (const Word& word : Grammar::built_in().lexicon.words()) {
    if (word.english == english) return word;
  }
  fail(ErrorKind::failed, "no word ", english);
}

// Nominative, accusative and dative of "<determiner> small <noun>".
std::string decline(Determiner determiner, const std::string& noun, Number number) {
  std::string cases;
  for (const Case c : {Case::nominative, Case::accusative, Case::dative}) {
    if (!cases.empty()) cases += ", ";
    cases += german_noun_phrase(determiner, {&word_named("small")}, word_named(noun), c, number);
  }
  return cases;
}

TEST(GrammarCorpus, InflectsDeterminersAdjectivesAndNounsByGenderCaseAndNumber) {
  const auto singular = Number::singular, plural = Number::plural;
  EXPECT_EQ(decline(Determiner::the, "dog", singular),
            "der kleine Hund, den kleinen Hund, dem kleinen Hund");
  EXPECT_EQ(decline(Determiner::the, "cat", singular),
            "die kleine Katze, die kleine Katze, der kleinen Katze");
  EXPECT_EQ(decline(Determiner::the, "lamb", singular),
            "das kleine Lamm, das kleine Lamm, dem kleinen Lamm");
  EXPECT_EQ(decline(Determiner::a, "dog", singular),
            "ein kleiner Hund, einen kleinen Hund, einem kleinen Hund");
  EXPECT_EQ(decline(Determiner::a, "cat", singular),
            "eine kleine Katze, eine kleine Katze, einer kleinen Katze");
  EXPECT_EQ(decline(Determiner::a, "lamb", singular),
            "ein kleines Lamm, ein kleines Lamm, einem kleinen Lamm");
  EXPECT_EQ(decline(Determiner::this_one, "dog", singular),
            "dieser kleine Hund, diesen kleinen Hund, diesem kleinen Hund");
  EXPECT_EQ(decline(Determiner::my, "lamb", singular),
            "mein kleines Lamm, mein kleines Lamm, meinem kleinen Lamm");
  EXPECT_EQ(decline(Determiner::the, "lamb", plural),
            "die kleinen Lämmer, die kleinen Lämmer, den kleinen Lämmern");
  EXPECT_EQ(decline(Determiner::my, "dog", plural),
            "meine kleinen Hunde, meine kleinen Hunde, meinen kleinen Hunden");
  EXPECT_EQ(decline(Determiner::two, "cat", singular),
            "zwei kleine Katzen, zwei kleine Katzen, zwei kleinen Katzen");
  EXPECT_EQ(decline(Determiner::the, "boy", singular),
            "der kleine Junge, den kleinen Jungen, dem kleinen Jungen");
  EXPECT_EQ(decline(Determiner::two, "sofa", plural),
            "zwei kleine Sofas, zwei kleine Sofas, zwei kleinen Sofas");
}

TEST(GrammarCorpus, InflectsVerbsByFormPlaceAndNumber) {
  const Word& carry = word_named("carry");
  const auto form = [&](VerbForm f, VerbPlace place, Number number) {
    return german_verb(carry, f, place, number);
  };
  EXPECT_EQ(form(VerbForm::present, VerbPlace::second, Number::singular), "trägt");
  EXPECT_EQ(form(VerbForm::present, VerbPlace::final, Number::singular), "wegträgt");
  EXPECT_EQ(form(VerbForm::past, VerbPlace::final, Number::plural), "wegtrugen");
  EXPECT_EQ(form(VerbForm::infinitive, VerbPlace::second, Number::singular), "wegtragen");
  EXPECT_EQ(form(VerbForm::participle, VerbPlace::second, Number::singular), "weggetragen");
  EXPECT_EQ(form(VerbForm::particle, VerbPlace::second, Number::singular), "weg");
  EXPECT_EQ(german_verb(word_named("wait"), VerbForm::past, VerbPlace::second, Number::plural),
            "warteten");
  EXPECT_EQ(german_verb(word_named("jump"), VerbForm::auxiliary, VerbPlace::second, Number::plural),
            "sind");
}

// --- The corpus ---

const GrammarCorpus& default_corpus() {
  static const GrammarCorpus corpus = generate_corpus({});
  return corpus;
}

std::vector<SentencePair> all_pairs(const GrammarCorpus& corpus) {
  std::vector<SentencePair> pairs = corpus.train;
  pairs.insert(pairs.end(), corpus.valid.begin(), corpus.valid.end());
  pairs.insert(pairs.end(), corpus.test.begin(), corpus.test.end());
  return pairs;
}

std::string joined(const std::vector<SentencePair>& pairs) {
  std::string text;
  for (const SentencePair& pair : pairs) {
    text += pair.source + '\t' + pair.target + '\t' + pair.expected + '\t' + pair.held_back + '\n';
  }
  return text;
}

// Lower case, one space around every word, no punctuation.
std::string padded_words(std::string text) {
  for (char& c : text) {
    if (c == '.' || c == ',' || c == '?') c = ' ';
    if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
  }
  std::istringstream in(text);
  std::string padded = " ";
  for (std::string word; in >> word;) padded += word + ' ';
  return padded;
}

TEST(GrammarCorpus, GivesAsManyDistinctPairsAsAsked) {
  const GrammarCorpus& corpus = default_corpus();
  EXPECT_EQ(corpus.train.size(), 20000u);
  EXPECT_EQ(corpus.valid.size(), 500u);
  EXPECT_EQ(corpus.test.size(), 1000u);
  std::set<std::string> sources;
  for (const SentencePair& pair : all_pairs(corpus)) {
    EXPECT_TRUE(sources.insert(pair.source).second) << pair.source;
  }
}

TEST(GrammarCorpus, GivesDistinctPairsAlsoWhenSmallPatternsAreUsedUp) {
  const GrammarCorpus corpus =
      generate_corpus({.num_pairs = 100'000, .num_valid = 0, .num_test = 0});
  std::set<std::string> sources;
  for (const SentencePair& pair : corpus.train) sources.insert(pair.source);
  EXPECT_EQ(sources.size(), 100'000u);
}

TEST(GrammarCorpus, IsTheSameForASeedAndAnotherForAnother) {
  const CorpusOptions options{.num_pairs = 300, .seed = 7, .num_valid = 50, .num_test = 50};
  const std::string first = joined(all_pairs(generate_corpus(options)));
  EXPECT_EQ(first, joined(all_pairs(generate_corpus(options))));
  CorpusOptions other = options;
  other.seed = 8;
  EXPECT_NE(first, joined(all_pairs(generate_corpus(other))));
}

TEST(GrammarCorpus, BeginsTheSameOnEveryMachine) {
  const GrammarCorpus corpus =
      generate_corpus({.num_pairs = 3, .seed = 1, .num_valid = 1, .num_test = 0});
  EXPECT_EQ(joined(all_pairs(corpus)),
            "I believe that the animal sits on the board because it is sad.\t"
            "Ich glaube, dass das Tier auf dem Brett sitzt, weil es traurig ist.\tes\t\n"
            "The aunt says that the grey bat is sticky.\t"
            "Die Tante sagt, dass der graue Schläger klebrig ist.\tSchläger\t\n"
            "The girl drew a tennis racket and a bat.\t"
            "Das Mädchen zeichnete einen Tennisschläger und einen Schläger.\tSchläger\t\n"
            "The grandmother plays with the owl in the tower.\t"
            "Die Großmutter spielt mit der Eule im Turm.\t\tgrandmother + owl\n");
}

TEST(GrammarCorpus, ASmallerCorpusIsTheBeginningOfALargerOne) {
  const GrammarCorpus small = generate_corpus({.num_pairs = 100, .num_valid = 0, .num_test = 0});
  for (std::size_t i = 0; i < small.train.size(); ++i) {
    EXPECT_EQ(small.train[i].source, default_corpus().train[i].source);
  }
}

// The nouns and states in a sentence, found in its English text alone: "cats" is the word "cat".
std::vector<std::string> content_words(const std::string& sentence) {
  const std::string words = padded_words(sentence);
  std::vector<std::string> found;
  for (const Word& word : Grammar::built_in().lexicon.words()) {
    if (word.kind != WordKind::noun && word.kind != WordKind::state) continue;
    const std::string plural =
        word.kind == WordKind::noun ? word.noun.english_plural : word.english;
    if (words.find(' ' + word.english + ' ') != words.npos ||
        words.find(' ' + plural + ' ') != words.npos) {
      found.push_back(word.english);
    }
  }
  return found;
}

// Every two content words that some sentence holds, as "cat + mat" and as "mat + cat".
std::set<std::string> combinations(const std::vector<SentencePair>& pairs) {
  std::set<std::string> found;
  for (const SentencePair& pair : pairs) {
    const std::vector<std::string> words = content_words(pair.source);
    for (const std::string& a : words) {
      for (const std::string& b : words) found.insert(a + " + " + b);
    }
  }
  return found;
}

TEST(GrammarCorpus, TrainingNeverShowsAHeldBackPairOfWordsInAnySentence) {
  for (const std::uint64_t seed : {1, 2}) {
    const GrammarCorpus corpus = generate_corpus({.seed = seed});
    const std::set<std::string> trained = combinations(corpus.train);
    std::set<std::string> held_back;
    for (const auto* set : {&corpus.valid, &corpus.test}) {
      for (const SentencePair& pair : *set) {
        ASSERT_TRUE(combinations({pair}).contains(pair.held_back)) << pair.source;
        ASSERT_FALSE(trained.contains(pair.held_back)) << pair.held_back;
        held_back.insert(pair.held_back);
      }
    }
    EXPECT_GT(held_back.size(), 300u);
    for (const SentencePair& pair : corpus.train) EXPECT_EQ(pair.held_back, "");
  }
}

TEST(GrammarCorpus, ValidationNeverShowsAHeldBackPairOfTheTest) {
  const std::set<std::string> validated = combinations(default_corpus().valid);
  for (const SentencePair& pair : default_corpus().test) {
    EXPECT_FALSE(validated.contains(pair.held_back)) << pair.held_back;
  }
}

// For a pronoun, the pair is made of the two nouns and the state that decide it.
TEST(GrammarCorpus, HoldsBackWhatDecidesAPronoun) {
  for (const SentencePair& pair : default_corpus().test) {
    if (pair.phenomenon != Phenomenon::pronoun) continue;
    EXPECT_EQ(content_words(pair.source).size(), 3u) << pair.source;
  }
}

TEST(GrammarCorpus, EveryWordOfValidationAndTestOccursInTraining) {
  const GrammarCorpus& corpus = default_corpus();
  std::set<std::string> known;
  for (const SentencePair& pair : corpus.train) {
    for (const std::string& text : {pair.source, pair.target}) {
      for (const std::string& word : split(padded_words(text), ' ')) known.insert(word);
    }
  }
  for (const auto* set : {&corpus.valid, &corpus.test}) {
    for (const SentencePair& pair : *set) {
      for (const std::string& text : {pair.source, pair.target}) {
        for (const std::string& word : split(padded_words(text), ' ')) {
          EXPECT_TRUE(known.contains(word)) << word;
        }
      }
    }
  }
}

TEST(GrammarCorpus, LabelsAgreeWithTheTarget) {
  for (const SentencePair& pair : all_pairs(default_corpus())) {
    EXPECT_TRUE(translates_phenomenon(pair, pair.target)) << pair.target << " " << pair.expected;
    EXPECT_EQ(pair.phenomenon == Phenomenon::none, pair.expected.empty()) << pair.source;
    // Every ambiguous sentence is labelled, whatever its pattern is.
    const std::string english = padded_words(pair.source), german = padded_words(pair.target);
    const bool has_bat =
        english.find(" bat ") != english.npos || english.find(" bats ") != english.npos;
    EXPECT_EQ(pair.phenomenon == Phenomenon::sense, has_bat) << pair.source;
    const bool has_it =
        english.find(" it was ") != english.npos || english.find(" it is ") != english.npos;
    EXPECT_EQ(pair.phenomenon == Phenomenon::pronoun, has_it) << pair.source;
    EXPECT_EQ(pair.referent.empty(), !has_it) << pair.source;
    EXPECT_NE(english.find(' ' + pair.referent), english.npos) << pair.source;
    EXPECT_NE(english.find(' ' + pair.rival), english.npos) << pair.source;
  }
}

TEST(GrammarCorpus, TestsPronounsOfNounsThatDifferInGenderAndBothSenses) {
  std::map<std::string, int> counts;
  std::map<Phenomenon, int> phenomena;
  for (const SentencePair& pair : default_corpus().test) {
    EXPECT_TRUE(pair.phenomenon == Phenomenon::none || pair.expected != pair.rejected)
        << pair.source;
    ++counts[pair.expected];
    ++phenomena[pair.phenomenon];
  }
  EXPECT_EQ(phenomena[Phenomenon::pronoun], 400);
  EXPECT_EQ(phenomena[Phenomenon::sense], 400);
  EXPECT_EQ(phenomena[Phenomenon::none], 200);
  for (const char* expected : {"er", "sie", "es", "Fledermaus", "Schläger"}) {
    EXPECT_GT(counts[expected], 80) << expected;
  }
}

TEST(GrammarCorpus, NeitherNounNorStateAloneTellsThePronoun) {
  // For each animal, "it" is now the animal and now the thing: without both, one can only guess.
  std::map<std::string, std::set<std::string>> pronouns_of_noun;
  for (const SentencePair& pair : default_corpus().train) {
    if (pair.phenomenon != Phenomenon::pronoun) continue;
    const std::string words = padded_words(pair.source);
    for (const Word& word : Grammar::built_in().lexicon.words()) {
      if (words.find(' ' + word.english + ' ') == words.npos) continue;
      if (word.kind == WordKind::noun || word.kind == WordKind::state) {
        pronouns_of_noun[word.english].insert(pair.expected);
      }
    }
  }
  EXPECT_GE(pronouns_of_noun.size(), 60u);
  for (const auto& [word, pronouns] : pronouns_of_noun) EXPECT_EQ(pronouns.size(), 3u) << word;
}

TEST(GrammarCorpus, SaysHowManyPairsThereAreWhenMoreAreAskedFor) {
  const CorpusCapacity capacity = count_pairs(Grammar::built_in(), 1);
  EXPECT_GT(capacity.train, 1'000'000);
  expect_error(ErrorKind::data,
               "corpus: 1000000000 training pairs asked for, the grammar has " +
                   std::to_string(capacity.train),
               [] { generate_corpus({.num_pairs = 1'000'000'000}); });
  // Also for a number that is not large by itself.
  expect_error(ErrorKind::data,
               "corpus: 40000 test pairs with a word of two senses asked for, the grammar has " +
                   std::to_string(capacity.test_sense),
               [] { generate_corpus({.num_pairs = 10, .num_test = 100'000}); });
  expect_error(ErrorKind::usage,
               "corpus: expected numbers of pairs that are not negative, got -1, 500 and 1000",
               [] { generate_corpus({.num_pairs = -1}); });
}

// --- A grammar of one's own ---

constexpr char tiny_lexicon[] =
    "# words\n"
    "noun\tanimal\tdog\tdogs\tHund\tm\tHunde\n"
    "noun\tanimal\tcat\tcats\tKatze\tf\tKatzen\n"
    "adjective\tlook\told\talt\n";
constexpr char tiny_patterns[] =
    "pattern sees\n"
    "weight 1\n"
    "slots A=animal B=look? C=animal\n"
    "en {the A} sees {a B C}.\n"
    "de {the A nom} sieht {a B C acc}.\n";

TEST(GrammarCorpus, GivesEverySentenceOfAGrammarOnce) {
  const Grammar grammar = Grammar::parse(tiny_lexicon, tiny_patterns);
  const CorpusCapacity capacity = count_pairs(grammar, 4);
  ASSERT_EQ(capacity.train, 4) << "the seed holds the only pair back: take another";
  const GrammarCorpus corpus =
      generate_corpus(grammar, {.num_pairs = 4, .seed = 4, .num_valid = 0, .num_test = 0});
  std::set<std::string> lines;
  for (const SentencePair& pair : corpus.train) lines.insert(pair.source + " " + pair.target);
  EXPECT_EQ(lines, (std::set<std::string>{
                       "The cat sees a dog. Die Katze sieht einen Hund.",
                       "The cat sees an old dog. Die Katze sieht einen alten Hund.",
                       "The dog sees a cat. Der Hund sieht eine Katze.",
                       "The dog sees an old cat. Der Hund sieht eine alte Katze.",
                   }));
  expect_error(ErrorKind::data, "corpus: 5 training pairs asked for, the grammar has 4", [&] {
    generate_corpus(grammar, {.num_pairs = 5, .seed = 4, .num_valid = 0, .num_test = 0});
  });
}

void expect_lexicon_error(const std::string& lines, const std::string& message) {
  SCOPED_TRACE(lines);
  expect_error(ErrorKind::data, "lexicon: " + message, [&] { Lexicon::parse(lines); });
}

TEST(GrammarCorpus, RefusesALexiconThatIsNoLexicon) {
  expect_lexicon_error("# nothing\n", "expected words, found none");
  expect_lexicon_error("\nnuon\tanimal\tdog\tHund\n",
                       "line 2: expected noun, verb, adjective, state or phrase, found 'nuon'");
  expect_lexicon_error("state\tcalm\n", "line 1: expected at least 4 columns, found 2");
  expect_lexicon_error("noun\tanimal\tdog\tdogs\tHund\tm\n",
                       "line 1: a noun has 7 or 8 columns, found 6");
  expect_lexicon_error("state\tcalm\ttired\tmüde\tmüder\n",
                       "line 1: a state has 4 columns, found 5");
  expect_lexicon_error("noun\tanimal\tdog\tdogs\tHund\tx\tHunde\n",
                       "line 1: expected the gender m, f or n, found 'x'");
  expect_lexicon_error("verb\trest\tsit/sits/sat\tsitzen/sitzt/saß/gesessen/hat\n",
                       "line 1: expected 4 or 5 forms of the verb, found 'sit/sits/sat'");
  expect_lexicon_error("verb\trest\tsit/sits/sat/sat\tsitzen/sitzt/saß/gesessen/hatte\n",
                       "line 1: expected hat or ist, found 'hatte'");
  expect_lexicon_error("state\tcalm\ttired\tmüde\nstate\tlively\ttired\tmüde\n",
                       "line 2: 'tired' stands there twice");
}

void expect_pattern_error(const std::string& from, const std::string& to,
                          const std::string& message) {
  SCOPED_TRACE(to);
  std::string patterns = tiny_patterns;
  patterns.replace(patterns.find(from), from.size(), to);
  expect_error(ErrorKind::data, "patterns: " + message,
               [&] { Grammar::parse(tiny_lexicon, patterns); });
}

TEST(GrammarCorpus, RefusesPatternsThatDoNotFitTheLexicon) {
  expect_pattern_error("pattern sees\n", "", "line 1: expected 'pattern' first, found 'weight'");
  expect_pattern_error("weight 1", "weight 0", "line 2: expected a positive weight, found '0'");
  expect_pattern_error("A=animal", "A=animals", "line 3: the lexicon has no group 'animals'");
  expect_pattern_error("A=animal", "A=animal|look", "line 3: slot A mixes kinds of words");
  expect_pattern_error("A=animal", "A=animal?",
                       "line 3: only adjectives can be left out, not those in slot A");
  expect_pattern_error("{the A} sees", "{the D} sees",
                       "line 4: expected a noun's slot after the determiner");
  expect_pattern_error("{the A} sees", "{A} sees", "line 4: slot A needs a determiner");
  expect_pattern_error("{a B C}.", "{a B C.", "line 4: '{' without '}'");
  expect_pattern_error("{the A nom}", "{the A gen}",
                       "line 5: there is no slot, case or form 'gen'");
  expect_pattern_error("{the A nom} sieht", "sieht",
                       "line 5: pattern sees: 'de' does not use slot A");
  expect_pattern_error("weight 1", "weight 1\nlabel sense A", "line 6: 'dog' has one sense only");
  expect_pattern_error("weight 1", "wait 1",
                       "line 2: expected pattern, weight, label, slots, en or de, found 'wait'");
}

// --- Scores ---

SentencePair pronoun_pair() {
  SentencePair pair;
  pair.phenomenon = Phenomenon::pronoun;
  pair.expected = "sie";
  pair.rejected = "er";
  return pair;
}

SentencePair sense_pair() {
  SentencePair pair;
  pair.phenomenon = Phenomenon::sense;
  pair.expected = "Schläger";
  pair.rejected = "Fledermaus";
  return pair;
}

TEST(GrammarCorpus, APronounIsRightWhenEveryPronounIsTheExpectedOne) {
  EXPECT_TRUE(
      translates_phenomenon(pronoun_pair(), "Der Hund saß auf der Matte, weil sie weich war."));
  EXPECT_TRUE(translates_phenomenon(pronoun_pair(), "Der Hund saß auf der Matte. Sie war weich."));
  EXPECT_FALSE(
      translates_phenomenon(pronoun_pair(), "Der Hund saß auf der Matte, weil er weich war."));
  EXPECT_FALSE(translates_phenomenon(pronoun_pair(), "Der Hund saß auf der Matte."));
  EXPECT_FALSE(translates_phenomenon(pronoun_pair(), "Sie war weich, weil er weich war."));
  EXPECT_FALSE(translates_phenomenon(pronoun_pair(), "siehe"));
  EXPECT_FALSE(translates_phenomenon(pronoun_pair(), ""));
}

TEST(GrammarCorpus, ASenseIsRightWhenItsWordIsThereAndTheOtherIsNot) {
  EXPECT_TRUE(translates_phenomenon(sense_pair(), "Der Schläger liegt neben dem Tennisschläger."));
  EXPECT_FALSE(
      translates_phenomenon(sense_pair(), "Die Fledermaus liegt neben dem Tennisschläger."));
  EXPECT_FALSE(translates_phenomenon(sense_pair(), "Der Schläger und die Fledermaus"));
  EXPECT_FALSE(translates_phenomenon(sense_pair(), "Der Ball"));
}

TEST(GrammarCorpus, ScoresTheSharesOfRightPronounsAndSenses) {
  const PhenomenonShares shares =
      score_phenomena({pronoun_pair(), sense_pair(), SentencePair{}, pronoun_pair(), pronoun_pair(),
                       pronoun_pair()},
                      {"weil sie", "Fledermaus", "irgendetwas", "weil er", "weil sie", "weil sie"});
  EXPECT_EQ(shares.num_pronouns, 4);
  EXPECT_EQ(shares.num_senses, 1);
  EXPECT_DOUBLE_EQ(shares.pronouns, 0.75);
  EXPECT_DOUBLE_EQ(shares.senses, 0.0);
  EXPECT_THROW(score_phenomena({pronoun_pair()}, {}), Error);
}

TEST(GrammarCorpus, GuessingTheOtherNounScoresNothing) {
  std::vector<std::string> wrong;
  for (const SentencePair& pair : default_corpus().test) {
    wrong.push_back("weil " + pair.rejected + " ...");
  }
  const PhenomenonShares shares = score_phenomena(default_corpus().test, wrong);
  EXPECT_EQ(shares.pronouns, 0.0);
  EXPECT_EQ(shares.senses, 0.0);
}

}  // namespace
}  // namespace heed::data
