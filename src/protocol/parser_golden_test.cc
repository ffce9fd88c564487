// Every line of the recorded dialogues with the original, and what it means
// here. Where the original understands a line otherwise, a comment says how.
#include <gtest/gtest.h>

#include <string_view>

#include "protocol/parser_check.h"

namespace hs::protocol {
namespace {

using namespace std::string_view_literals;

TEST(GoldenLines, OpenAndSyntax) {
  check({
      {"P\t1\thst\tt\tPRIMARY\tid,a,b,c", "open 1 'hst''t''PRIMARY''id,a,b,c'''"},
      {"P\t2\thst\tt\t\tid", "open 2 'hst''t''''id'''"},
      {"P\t3\thst\tt\t1\tid,b", "open 3 'hst''t''1''id,b'''"},
      {"P\t4\thst\tt\t9\tid", "open 4 'hst''t''9''id'''"},
      {"P\t4\thst\tt\tnosuch\tid", "open 4 'hst''t''nosuch''id'''"},
      {"P\t4\thst\tt\tprimary\tid", "open 4 'hst''t''primary''id'''"},
      {"P\t4\thst\tt\tPRIMARY\tID", "open 4 'hst''t''PRIMARY''ID'''"},
      {"P\t4\thst\tt\tPRIMARY\tnope", "open 4 'hst''t''PRIMARY''nope'''"},
      {"P\t4\thst\tt\tPRIMARY\tid, a", "open 4 'hst''t''PRIMARY''id, a'''"},
      {"P\t4\thst\tt\tPRIMARY\tid,", "open 4 'hst''t''PRIMARY''id,'''"},
      {"P\t4\thst\tt\tPRIMARY\t", "open 4 'hst''t''PRIMARY'''''"},
      {"P\t4\thst\tt\tPRIMARY", "open 4 'hst''t''PRIMARY'''''"},
      {"P\t4\thst\tt", "open 4 'hst''t'''''''"},
      {"P\t4\thst", "open 4 'hst'''''''''"},
      {"P\t4", "open 4 ''''''''''"},
      {"P", "open 0 ''''''''''"},
      {"P\t4\tnodb\tt\tPRIMARY\tid", "open 4 'nodb''t''PRIMARY''id'''"},
      {"P\t4\thst\tnotbl\tPRIMARY\tid", "open 4 'hst''notbl''PRIMARY''id'''"},
      {"P\t4\thst\tnokey\t\ta", "open 4 'hst''nokey''''a'''"},
      {"P\t4\thst\tnokey\t0\ta", "open 4 'hst''nokey''0''a'''"},
      // The original takes x for 0.
      {"P\tx\thst\tt\tPRIMARY\tid", "error stmtnum"},
      {"P\t5\thst\tt\tPRIMARY\tid,a\tnofld", "open 5 'hst''t''PRIMARY''id,a''nofld'"},
      {"P\t5\thst\tt\tPRIMARY\tid,a\tb,c", "open 5 'hst''t''PRIMARY''id,a''b,c'"},
      {"P\t6\tinformation_schema\ttables\tPRIMARY\tTABLE_NAME",
       "open 6 'information_schema''tables''PRIMARY''TABLE_NAME'''"},
      {"P\t7\tmysql\tglobal_priv\tPRIMARY\tHost,User,Priv",
       "open 7 'mysql''global_priv''PRIMARY''Host,User,Priv'''"},
      {"P\t8\tperformance_schema\taccounts\t0\tUSER",
       "open 8 'performance_schema''accounts''0''USER'''"},
      {"", "error cmd"},
      {"X", "error cmd"},
      {"PP", "error cmd"},
      {"hello", "error cmd"},
      {"\t", "error cmd"},
      {"99\t=\t1\t1", "find 99 =('1')"},
      // The original takes 1x for 1.
      {"1x\t=\t1\t1", "error stmtnum"},
      {"1\t=\t1\t1", "find 1 =('1')"},
      {"1", "error op"},
      {"1\t", "error op"},
      {"1\t=", "error klen"},
      {"1\t=\t0", "error klen"},
      // The original takes a missing key value for an empty string.
      {"1\t=\t1", "error klen"},
      // The original answers kpnum; values are missing before parts are counted.
      {"1\t=\t5\t1", "error klen"},
      {"1\tXX\t1\t1", "error op"},
      {"1\t==\t1\t1", "error op"},
      {"1\t!=\t1\t1", "error op"},
      {"1\tS\t1\tselect", "error notimpl"},
      {"1\tS\t0", "error klen"},
      {"1\t+\t1\t99", "insert 1 ('99')"},
      {"A\t1\tfoo", "auth 'foo'"},
      {"A\t2\tfoo", "error authtype"},
      {"A", "error authtype"},
      {"P\t9999999\thst", "open 9999999 'hst'''''''''"},
      {"4\t=\t1\t1", "find 4 =('1')"},
      {"50\t=\t1\t1", "find 50 =('1')"},
  });
}

TEST(GoldenLines, Find) {
  check({
      {"P\t1\thst\tt\tPRIMARY\tid,a,b,c\tb,c,a", "open 1 'hst''t''PRIMARY''id,a,b,c''b,c,a'"},
      {"P\t2\thst\tt\tib\tid,b\tb", "open 2 'hst''t''ib''id,b''b'"},
      {"P\t3\thst\tt\tiab\tid,a,b", "open 3 'hst''t''iab''id,a,b'''"},
      {"1\t=\t1\t1\t0\t0", "find 1 =('1')"},
      {"1\t=\t1\t1\t1", "find 1 =('1')"},
      {"1\t=\t1\tabc", "find 1 =('abc')"},
      {"1\t=\t1\t1abc", "find 1 =('1abc')"},
      {"1\t=\t1\t1.6", "find 1 =('1.6')"},
      {"1\t=\t1\t99999999999999", "find 1 =('99999999999999')"},
      {"1\t=\t1\t", "find 1 =('')"},
      {"1\t=\t1\t\x00"sv, "find 1 =(NULL)"},
      {"1\t=\t1\t 1", "find 1 =(' 1')"},
      {"1\t>\t1\t5\t10\t0", "find 1 >('5') limit 10"},
      {"1\t>=\t1\t5\t10", "find 1 >=('5') limit 10"},
      {"1\t>=\t1\t5\t10\t1", "find 1 >=('5') limit 10 offset 1"},
      {"1\t<\t1\t3\t10\t0", "find 1 <('3') limit 10"},
      {"1\t<=\t1\t3\t10\t0", "find 1 <=('3') limit 10"},
      {"1\t>=\t1\t1\t4294967295\t0", "find 1 >=('1') limit 4294967295"},
      {"1\t>=\t1\t1\t4294967295\t1", "find 1 >=('1') limit 4294967295 offset 1"},
      // The original takes -1 for 1.
      {"1\t>=\t1\t1\t-1\t0", "error limit"},
      {"2\t=\t1\t5\t10\t0", "find 2 =('5') limit 10"},
      {"2\t=\t1\t5\t1\t1", "find 2 =('5') offset 1"},
      {"2\t<=\t1\t5\t2\t0", "find 2 <=('5') limit 2"},
      {"2\t<\t1\t5\t10\t0", "find 2 <('5') limit 10"},
      {"3\t=\t1\ttwo\t10\t0", "find 3 =('two') limit 10"},
      {"3\t=\t1\t\x00\t10\t0"sv, "find 3 =(NULL) limit 10"},
      {"3\t>\t1\t\x00\t10\t0"sv, "find 3 >(NULL) limit 10"},
      {"3\t=\t2\t\x00\t4\t10\t0"sv, "find 3 =(NULL '4') limit 10"},
      {"3\t=\t2\ttwo\t\t10\t0", "find 3 =('two' '') limit 10"},
      {"3\t>=\t1\to\t10\t0", "find 3 >=('o') limit 10"},
      {"3\t=\t3\ttwo\t2\t2\t10\t0", "find 3 =('two' '2' '2') limit 10"},
      {"3\t=\t1\tTWO\t10\t0", "find 3 =('TWO') limit 10"},
      {"1\t=\t1\t\t10\t0\t@\t0\t3\t1\t99\t3", "find 1 =('') limit 10 in 0('1' '99' '3')"},
      {"1\t=\t1\t\t0\t0\t@\t0\t3\t1\t99\t3", "find 1 =('') in 0('1' '99' '3')"},
      {"1\t=\t1\t\t1\t0\t@\t0\t3\t1\t2\t3", "find 1 =('') in 0('1' '2' '3')"},
      {"1\t=\t1\t\t10\t1\t@\t0\t3\t1\t2\t3", "find 1 =('') limit 10 offset 1 in 0('1' '2' '3')"},
      {"1\t=\t1\t\t10\t0\t@\t0\t0", "error invalueslen"},
      // The original takes a missing value for an empty string.
      {"1\t=\t1\t\t10\t0\t@\t0\t2\t1", "error invalueslen"},
      // The original ignores an icol behind the key.
      {"1\t=\t1\t\t10\t0\t@\t5\t2\t1\t2", "error icol"},
      {"2\t=\t1\t\t10\t0\t@\t0\t2\t5\t1", "find 2 =('') limit 10 in 0('5' '1')"},
      {"1\t>\t1\t\t10\t0\t@\t0\t2\t5\t1", "find 1 >('') limit 10 in 0('5' '1')"},
      {"2\t=\t1\t\t10\t0\t@\t0\t2\t5\t\x00"sv, "find 2 =('') limit 10 in 0('5' NULL)"},
      {"3\t=\t1\t\t10\t0\t@\t0\t2\t\x00\ttwo"sv, "find 3 =('') limit 10 in 0(NULL 'two')"},
      {"1\t>=\t1\t1\t10\t0\tF\t>\t0\t3", "find 1 >=('1') limit 10 skip unless 0>'3'"},
      {"1\t>=\t1\t1\t10\t0\tW\t<\t0\t3", "find 1 >=('1') limit 10 stop unless 0<'3'"},
      {"1\t>=\t1\t1\t10\t0\tF\t=\t1\t", "find 1 >=('1') limit 10 skip unless 1=''"},
      {"1\t>=\t1\t1\t10\t0\tF\t!=\t2\t\x00"sv, "find 1 >=('1') limit 10 skip unless 2!=NULL"},
      {"1\t>=\t1\t1\t10\t0\tF\t=\t2\t\x00"sv, "find 1 >=('1') limit 10 skip unless 2=NULL"},
      {"1\t>=\t1\t1\t10\t0\tF\t=\t2\tTWO", "find 1 >=('1') limit 10 skip unless 2='TWO'"},
      {"1\t>=\t1\t1\t10\t0\tF\t>\t0\t3\tF\t<\t0\t5",
       "find 1 >=('1') limit 10 skip unless 0>'3' skip unless 0<'5'"},
      // The original never matches.
      {"1\t>=\t1\t1\t10\t0\tF\t~\t0\t3", "error filterop"},
      // The original ignores the filter.
      {"1\t>=\t1\t1\t10\t0\tF\tLIKE\t0\t3", "error filterop"},
      // The original ignores the filter.
      {"1\t>=\t1\t1\t10\t0\tF\t<>\t0\t3", "error filterop"},
      {"1\t>=\t1\t1\t10\t0\tF\t=\t9\t3", "find 1 >=('1') limit 10 skip unless 9='3'"},
      {"1\t>=\t1\t1\t10\t0\tFF\t=\t0\t3", "error filtertype"},
      // The original takes a missing value for an empty string.
      {"1\t>=\t1\t1\t10\t0\tF\t=\t0", "error filterfld"},
      {"1\t>=\t1\t1\t10\t0\tU\ta", "find 1 >=('1') limit 10 update('a')"},
      {"1\t>=\t1\t1\t10\t0\tD", "find 1 >=('1') limit 10 erase"},
      {"1\t>=\t1\t1\t10\t0\tZ", "error modop"},
      {"1\t>=\t1\t1\t10\t0\t", "find 1 >=('1') limit 10"},
      {"1\t=\t1\t1\t10\t0\t", "find 1 =('1') limit 10"},
      {"1\t=\t1\t1\t10\t0\tU", "find 1 =('1') limit 10 update"},
      {"1\t=\t1\t0", "find 1 =('0')"},
  });
}

}  // namespace
}  // namespace hs::protocol
