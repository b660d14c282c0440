(** Different lists of fields never have the same signing input (libs/proof, SPEC.md, section 2), for fields of any
    length and any bytes, and no signing input is the beginning of another. *)

From Coq Require Import Ascii String List Arith Lia DecimalNat DecimalString.
Import ListNotations.
Open Scope string_scope.

(** The length in decimal digits, a colon, the text, a comma. *)
Definition decimal (n : nat) : string := NilEmpty.string_of_uint (Nat.to_uint n).
Definition netstring (x : string) : string := decimal (String.length x) ++ ":" ++ x ++ ",".
Definition input (fields : list string) : string := String.concat "" (map netstring fields).

Lemma decimal_injective : forall n m, decimal n = decimal m -> n = m.
Proof.
  intros n m equal.
  apply (f_equal NilEmpty.uint_of_string) in equal. unfold decimal in equal. rewrite !NilEmpty.usu in equal.
  injection equal as equal. apply Unsigned.to_uint_inj. exact equal.
Qed.

Fixpoint has_no_colon (s : string) : Prop :=
  match s with EmptyString => True | String c rest => c <> ":"%char /\ has_no_colon rest end.

Lemma decimal_has_no_colon : forall n, has_no_colon (decimal n).
Proof.
  intros n. unfold decimal. induction (Nat.to_uint n); simpl; auto; split; auto; discriminate.
Qed.

Lemma split_at_colon : forall a b x y,
  has_no_colon a -> has_no_colon b -> a ++ ":" ++ x = b ++ ":" ++ y -> a = b /\ x = y.
Proof.
  induction a as [|c a IH]; intros [|e b] x y Ha Hb equal; simpl in *.
  - injection equal as equal. auto.
  - injection equal as equal _. destruct Hb as [Hb _]. symmetry in equal. contradiction.
  - injection equal as equal _. destruct Ha as [Ha _]. contradiction.
  - injection equal as same equal. destruct (IH b x y) as [-> ->]; try tauto. subst. auto.
Qed.

Lemma split_at_length : forall a b x y, String.length a = String.length b -> a ++ x = b ++ y -> a = b /\ x = y.
Proof.
  induction a as [|c a IH]; intros [|e b] x y same equal; simpl in *; try discriminate; auto.
  injection equal as first equal. injection same as same. destruct (IH b x y same equal) as [-> ->]. subst. auto.
Qed.

Lemma append_associative : forall a b c, (a ++ b) ++ c = a ++ b ++ c.
Proof. induction a; intros; simpl; congruence. Qed.

(** After the first field, both texts go on in the same way. *)
Lemma first_field : forall x y more others,
  netstring x ++ more = netstring y ++ others -> x = y /\ more = others.
Proof.
  intros x y more others equal. unfold netstring in equal. rewrite !append_associative in equal.
  apply split_at_colon in equal; try apply decimal_has_no_colon. destruct equal as [same equal].
  apply decimal_injective in same.
  apply split_at_length in equal; auto. destruct equal as [-> equal]. injection equal as ->. auto.
Qed.

Lemma input_of_first : forall x fields, input (x :: fields) = netstring x ++ input fields.
Proof.
  intros x [|y fields]; unfold input; simpl; auto.
  induction (netstring x) as [|c rest IH]; simpl; congruence.
Qed.

Lemma netstring_is_not_empty : forall x more, netstring x ++ more <> "".
Proof.
  intros x more. unfold netstring. destruct (decimal (String.length x)); simpl; discriminate.
Qed.

(** No input is the beginning of another, unless the fields are the beginning of the others. *)
Theorem beginning : forall fields others rest,
  input others = input fields ++ rest -> exists more, others = app fields more /\ input more = rest.
Proof.
  induction fields as [|x fields IH]; intros others rest equal.
  - exists others. auto.
  - rewrite input_of_first, append_associative in equal. destruct others as [|y others].
    + symmetry in equal. apply netstring_is_not_empty in equal. contradiction.
    + rewrite input_of_first in equal. apply first_field in equal. destruct equal as [-> equal].
      destruct (IH others rest equal) as [more [-> same]]. exists more. auto.
Qed.

Theorem injective : forall fields others, input fields = input others -> fields = others.
Proof.
  induction fields as [|x fields IH]; intros [|y others] equal; auto.
  - rewrite input_of_first in equal. symmetry in equal. apply netstring_is_not_empty in equal. contradiction.
  - rewrite input_of_first in equal. apply netstring_is_not_empty in equal. contradiction.
  - rewrite !input_of_first in equal. apply first_field in equal. destruct equal as [-> equal]. f_equal. auto.
Qed.

(** The two versions. *)
Definition v1 (intern timestamp user digest : string) : string :=
  input ["ori-invoke-v1"; intern; timestamp; user; digest].
Definition v2 (intern timestamp nonce user method path digest : string) : string :=
  input ["ori-invoke-v2"; intern; timestamp; nonce; user; method; path; digest].

Corollary v1_injective : forall i t u d i' t' u' d', v1 i t u d = v1 i' t' u' d' -> [i; t; u; d] = [i'; t'; u'; d'].
Proof. intros * equal. apply injective in equal. congruence. Qed.

Corollary v2_injective : forall i t n u m p d i' t' n' u' m' p' d',
  v2 i t n u m p d = v2 i' t' n' u' m' p' d' -> [i; t; n; u; m; p; d] = [i'; t'; n'; u'; m'; p'; d'].
Proof. intros * equal. apply injective in equal. congruence. Qed.

Corollary versions_differ : forall i t u d i' t' n' u' m' p' d', v1 i t u d <> v2 i' t' n' u' m' p' d'.
Proof. intros * equal. apply injective in equal. discriminate. Qed.

Print Assumptions beginning.
Print Assumptions injective.
Print Assumptions v1_injective.
Print Assumptions v2_injective.
Print Assumptions versions_differ.
